// Tests that the reference compiler of Khronos accepts every shader of the view, at every quality.
#include <gtest/gtest.h>

#include "app/compare/backends.hpp"
#include "app/view/view.hpp"
#include "tests/gpu_collision/gl_hooks.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

TEST(ViewShaders, TheReferenceCompilerAcceptsThem) {
  Backends backends;
  if (!backends.context()) GTEST_SKIP() << "SKIPPED: no OpenGL (" << backends.why_no_context() << ")";
  const ShaderSources shaders;
  const TriangleMesh sphere = shapes::icosphere(2, 0.05f);
  const std::vector<DrawnOrgan> organs{{sphere.view(), {0.4f, 0.08f, 0.06f}, sphere.positions, {}, 0}};
  View view(*backends.context(), organs);
  ScopePose scope = scope_looking_at({0, 0, 0.15}, {0, 0, 0}, 0.0, 0.0, 0.1);
  PictureTarget target(64, 48);
  target.bind();
  for (const Quality quality : {Quality::Low, Quality::Medium, Quality::High}) {
    ViewSettings settings;
    settings.quality = quality;
    view.draw(organs, {}, {}, scope, {}, {}, settings, 64, 48);
  }
  const TemporaryFolder folder;
  EXPECT_EQ(shaders.complaints(folder.path()), "");
  std::printf("%zu different shaders\n", shaders.sources.size());
  EXPECT_GE(shaders.sources.size(), 20u);
}

}  // namespace
}  // namespace trocar
