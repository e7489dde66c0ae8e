// Tests that the reference compiler of Khronos accepts every shader of the backends, in every variant.
#include <gtest/gtest.h>

#include "gpu_collision/compute.hpp"
#include "tests/gpu_collision/shader_sources.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

TEST(ShaderCheck, TheReferenceCompilerAcceptsEveryShaderOfTheBackends) {
  std::string why;
  const auto context = make_offscreen_context(why);
  if (!context) GTEST_SKIP() << "SKIPPED: no OpenGL (" << why << ")";
  if (context->info().major * 10 + context->info().minor < 45) GTEST_SKIP() << "compute needs OpenGL 4.5";
  const ShaderSources shaders;
  const TriangleMesh mesh = shapes::icosphere(1);
  for (const bool culled : {false, true}) {
    const auto query = make_compute_query(*context, {.cull_blocks = culled});
    query->rebuild(mesh.view());
  }
  make_occlusion_query(*context)->rebuild(mesh.view());
  const TemporaryFolder folder;
  EXPECT_EQ(shaders.complaints(folder.path()), "");
  std::printf("%zu different shaders\n", shaders.sources.size());
  EXPECT_GE(shaders.sources.size(), 6u) << "faces in two variants, cull, and three stages of occlusion";
}

TEST(ShaderCheck, AFaultIsReported) {
  ShaderSources shaders;
  shaders.sources.emplace("frag", "#version 330\nvoid main() { missing = 1.0; }\n");
  const TemporaryFolder folder;
  EXPECT_NE(shaders.complaints(folder.path()).find("missing"), std::string::npos);
}

}  // namespace
}  // namespace trocar
