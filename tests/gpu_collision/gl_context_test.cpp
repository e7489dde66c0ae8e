// Tests off-screen contexts (independent of DISPLAY, many in a row, an error message without a driver) and the classes
// that own GL objects.
#include "gpu_collision/gl_context.hpp"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "geometry/error.hpp"
#include "gpu_collision/gl_objects.hpp"
#include "tests/gpu_collision/gl_support.hpp"
#include "tests/support/resident_memory.hpp"

namespace trocar {
namespace {

using GlContextTest = GlTest;

TEST_F(GlContextTest, DescribesItself) {
  const GlInfo& info = context_->info();
  EXPECT_FALSE(info.vendor.empty());
  EXPECT_FALSE(info.renderer.empty());
  EXPECT_FALSE(info.version.empty());
  EXPECT_GE(info.major, 3);
  EXPECT_EQ(info.software,
            info.renderer.find("llvmpipe") != std::string::npos || info.renderer.find("softpipe") != std::string::npos);
  std::printf("OpenGL %d.%d %s, %s, %s\n", info.major, info.minor,
              info.compatibility_profile ? "compatibility" : "core", info.renderer.c_str(), info.version.c_str());
}

// Runs `question` in a child process whose environment `prepare` has changed; true when it exits with status 0.
// The suites that use it are named DeathTest so that they run first, before this process has loaded a driver.
bool child_answers(void (*prepare)(), bool (*question)()) {
  const pid_t child = fork();
  if (child == 0) {
    prepare();
    _exit(question() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool context_can_be_made() {
  std::string why;
  return make_offscreen_context(why) != nullptr && why.empty();
}

bool context_is_refused_with_a_reason() {
  std::string why;
  return make_offscreen_context(why) == nullptr && !why.empty();
}

TEST(GlContextChildDeathTest, DisplayDoesNotMatter) {
  if (!child_answers([] {}, context_can_be_made)) GTEST_SKIP() << "no OpenGL on this machine";
  EXPECT_TRUE(child_answers([] { unsetenv("DISPLAY"); }, context_can_be_made));
  EXPECT_TRUE(child_answers([] { setenv("DISPLAY", ":4711", 1); }, context_can_be_made));
  EXPECT_TRUE(child_answers([] { setenv("DISPLAY", "no such thing", 1); }, context_can_be_made));
  EXPECT_TRUE(child_answers([] { setenv("WAYLAND_DISPLAY", "nowhere", 1); }, context_can_be_made));
}

TEST(GlContextChildDeathTest, NoDriverGivesAnErrorMessage) {
  EXPECT_TRUE(child_answers([] { setenv("__EGL_VENDOR_LIBRARY_FILENAMES", "/nonexistent", 1); },
                            context_is_refused_with_a_reason));
}

TEST(GlContextChildDeathTest, NothingToAdoptGivesAnErrorMessage) {
  EXPECT_TRUE(child_answers([] {},
                            [] {
                              std::string why;
                              return adopt_current_context(nullptr, why) == nullptr && !why.empty();
                            }));
}

TEST_F(GlContextTest, ManyInARowLeakNothing) {
  context_.reset();
  std::string why;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(make_offscreen_context(why)) << why;
  const long before = resident_kib();
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(make_offscreen_context(why)) << why;
  // A leaked context of a software driver takes megabytes.
  EXPECT_LT(resident_kib() - before, 20'000);
}

TEST_F(GlContextTest, AdoptsTheCurrentContext) {
  using GetProcAddress = void (*(*)(const char*))();
  void* library = dlopen("libEGL.so.1", RTLD_NOW);
  ASSERT_NE(library, nullptr);
  std::string why;
  auto adopted = adopt_current_context(reinterpret_cast<GetProcAddress>(dlsym(library, "eglGetProcAddress")), why);
  ASSERT_TRUE(adopted) << why;
  EXPECT_EQ(adopted->info().renderer, context_->info().renderer);
  EXPECT_EQ(adopted->info().version, context_->info().version);
  adopted->make_current();
}

TEST_F(GlContextTest, MissingVersionIsNamed) {
  EXPECT_NO_THROW(gl::require_version(*context_, "compute", 1, 0));
  try {
    gl::require_version(*context_, "compute", 9, 9);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()), "backend compute: this context is OpenGL " +
                                             std::to_string(context_->info().major) + "." +
                                             std::to_string(context_->info().minor) + ", 9.9 is needed");
  }
}

TEST_F(GlContextTest, ExtensionsAreThoseOfTheContext) {
  EXPECT_FALSE(gl::has_extension("GL_TROCAR_no_such_extension"));
}

TEST_F(GlContextTest, ABadShaderIsAnErrorWithItsLabel) {
  constexpr unsigned kVertexShader = 0x8B31;
  const std::array<gl::ShaderStage, 1> stages{{{kVertexShader, "#version 330 core\nnonsense"}}};
  try {
    gl::make_program("nonsense.vert", stages);
    FAIL();
  } catch (const RunError& error) {
    EXPECT_EQ(std::string(error.what()).find("shader nonsense.vert: "), 0u);
  }
}

TEST_F(GlContextTest, TimerReportsWithoutWaiting) {
  gl::Timer timer;
  EXPECT_EQ(timer.latest_ms(), 0.0);
  for (int i = 0; i < 100; ++i) {
    timer.begin();
    timer.end();
    EXPECT_GE(timer.latest_ms(), 0.0);
  }
}

}  // namespace
}  // namespace trocar
