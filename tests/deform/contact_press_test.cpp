// Presses a tool into an organ, frame by frame as in the program, and tests that the surface stays outside the tool,
// the force is plausible, and the organ springs back.
#include <cmath>

#include "tests/deform/deform_support.hpp"

namespace trocar {
namespace {

constexpr float kFrame = 1.f / 60.f;

struct Scene {
  TriangleMesh mesh;
  TissueModel model;
};

// Returns an ellipsoid of 12 x 12 x 8 cm on a fixed patch, with the relative resolution of a liver of 20,000 faces.
Scene ellipsoid() {
  Scene scene{shapes::icosphere(5, 0.06f), {}};
  for (glm::vec3& p : scene.mesh.positions) p.z *= 0.667f;
  const Attachment under{{0.f, 0.f, -0.04f}, 0.035f};
  TissueParams params;
  params.node_spacing = 0.008f;
  scene.model = make_tissue(scene.mesh.view(), params, {&under, 1});
  return scene;
}

double deepest_vertex(const ToolStep& tool, const test::Press& press) {
  double deepest = 0.0;
  for (const Touch& touch : press.touches)
    for (int corner = 0; corner < 3; ++corner) {
      const glm::dvec3 p(press.positions[press.mesh.faces[index(touch.face)][corner]]);
      const ClosestPoints c = closest_segment_triangle(tool.pivot, tool.tip_after, {p, p, p});
      deepest = std::max(deepest, tool.radius - c.distance);
    }
  return deepest;
}

// The tip moves 20 mm down at 20 mm/s, `tilt` radians off the vertical, waits, and leaves.
void press_and_release(double tilt, double radius) {
  const Scene scene = ellipsoid();
  test::Press press{scene.mesh, scene.model};
  const glm::dvec3 shaft(std::sin(tilt), 0.0, std::cos(tilt));
  const glm::dvec3 start = glm::dvec3(0.0, 0.0, 0.04 + radius + 0.001);
  const auto tip = [&](int frame) { return start - glm::dvec3(0.0, 0.0, std::min(frame * 0.02 * kFrame, 0.021)); };
  double worst = 0.0, jump = 0.0;
  glm::vec3 last(0.f);
  for (int frame = 1; frame <= 90; ++frame) {
    const ToolStep tool{tip(frame) + 0.2 * shaft, tip(frame - 1), tip(frame), radius};
    const glm::vec3 force = press.frame(tool, kFrame);
    ASSERT_TRUE(std::isfinite(force.x + force.y + force.z));
    worst = std::max(worst, deepest_vertex(tool, press));
    jump = std::max(jump, double(glm::distance(force, last)));
    last = force;
  }
  EXPECT_LT(worst, 1e-3);
  EXPECT_LT(jump, 0.15);
  EXPECT_GT(last.z, 0.2f);
  EXPECT_LT(last.z, 5.f);
  float lowest = 0.f;
  for (std::size_t i = 0; i < press.positions.size(); ++i)
    lowest = std::max(lowest, glm::distance(press.positions[i], scene.mesh.positions[i]));
  EXPECT_GT(lowest, 0.015f);
  EXPECT_LT(lowest, 0.04f);

  for (int frame = 0; frame < 240; ++frame) step(scene.model, press.state, {}, kFrame);
  EXPECT_LT(test::farthest_from_rest(scene.model, press.state), 0.01f * 0.02f);
}

TEST(Press, FineTipDownTwentyMillimetres) { press_and_release(0.0, 0.0025); }
TEST(Press, TiltedShaftDownTwentyMillimetres) { press_and_release(1.0, 0.0025); }
TEST(Press, ThickShaftDownTwentyMillimetres) { press_and_release(0.4, 0.005); }

// A dent is local: the far side of the organ hardly moves.
TEST(Press, DentIsLocalAndSmooth) {
  const Scene scene = ellipsoid();
  test::Press press{scene.mesh, scene.model};
  for (int frame = 1; frame <= 60; ++frame) {
    const double z = 0.0435 - 0.01 * std::min(frame / 30.0, 1.0),
                 before = 0.0435 - 0.01 * std::min((frame - 1) / 30.0, 1.0);
    press.frame({{0.0, 0.0, 0.3}, {0.0, 0.0, before}, {0.0, 0.0, z}, 0.0025}, kFrame);
  }
  for (std::size_t i = 0; i < press.positions.size(); ++i) {
    const glm::vec3& rest = scene.mesh.positions[i];
    const float moved = glm::distance(press.positions[i], rest);
    if (glm::length(glm::vec2(rest)) > 0.04f || rest.z < 0.f) {
      EXPECT_LT(moved, 0.003f);
    }
  }
  float steepest = 0.f;
  for (const glm::uvec3& face : scene.mesh.faces)
    for (int corner = 0; corner < 3; ++corner) {
      const std::uint32_t a = face[corner], b = face[(corner + 1) % 3];
      const float apart =
          glm::distance(press.positions[a] - scene.mesh.positions[a], press.positions[b] - scene.mesh.positions[b]);
      steepest = std::max(steepest, apart / glm::distance(scene.mesh.positions[a], scene.mesh.positions[b]));
    }
  EXPECT_LT(steepest, 2.5f);
}

}  // namespace
}  // namespace trocar
