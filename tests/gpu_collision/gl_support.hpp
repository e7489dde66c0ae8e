// Provides every OpenGL test with one off-screen context, or prints why the test is skipped.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

#include "gpu_collision/gl_objects.hpp"

namespace trocar {

// Fixture: `context_` is current. Skips, with the reason, only when this machine has no OpenGL at all.
class GlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    context_ = make_offscreen_context(why);
    if (!context_) {
      std::printf("SKIPPED: no OpenGL: %s\n", why.c_str());
      GTEST_SKIP() << why;
    }
  }

  std::unique_ptr<GlContext> context_;
};

// GL_SELECT crashes inside Mesa's zink.
inline bool can_select(const GlInfo& info) {
  return info.compatibility_profile && info.renderer.find("zink") == std::string::npos;
}

// The same for tests of `compute`; skips where the context is too old.
class ComputeGlTest : public GlTest {
 protected:
  void SetUp() override {
    GlTest::SetUp();
    if (IsSkipped() || gl::at_least(context_->info(), 4, 5)) return;
    GTEST_SKIP() << "OpenGL " << context_->info().major << "." << context_->info().minor << ": compute needs 4.5";
  }
};

}  // namespace trocar
