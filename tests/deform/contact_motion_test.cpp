// Tests tools at the speed of fast hand motions: none tunnels through tissue, and the surface stays outside the tools.
#include <cmath>

#include "tests/deform/deform_support.hpp"

namespace trocar {
namespace {

constexpr double kRadius = 0.0025, kFrame = 1.0 / 60.0;

struct Scene {
  TriangleMesh mesh;
  TissueModel model;
};

// Returns an ellipsoid of 12 x 12 x 8 cm on a fixed patch.
const Scene& scene() {
  static const Scene made = [] {
    Scene s{shapes::icosphere(5, 0.06f), {}};
    for (glm::vec3& p : s.mesh.positions) p.z *= 0.667f;
    const Attachment under{{0.f, 0.f, -0.04f}, 0.035f};
    s.model = make_tissue(s.mesh.view(), {}, {&under, 1});
    return s;
  }();
  return made;
}

// Returns the largest depth of any face in the tool: its radius minus the distance from its axis.
double penetration(const ToolStep& tool, const test::Press& press) {
  double nearest = 1.0;
  for (const glm::uvec3& face : press.mesh.faces) {
    const Triangle t = triangle_of(press.positions, face);
    if (std::abs(t.a.x - tool.tip_after.x) > 0.25) continue;
    nearest = std::min(nearest, closest_segment_triangle(tool.pivot, tool.tip_after, t).distance);
  }
  return tool.radius - nearest;
}

// Is a part of the axis inside the organ? Uses the winding number of the surface at points on the axis.
bool inside(const ToolStep& tool, const test::Press& press) {
  for (double share : {0.0, 0.05, 0.1}) {
    const glm::dvec3 p = glm::mix(tool.tip_after, tool.pivot, share);
    double solid_angle = 0.0;
    for (const glm::uvec3& face : press.mesh.faces) {
      const Triangle t = triangle_of(press.positions, face);
      const glm::dvec3 a = t.a - p, b = t.b - p, c = t.c - p;
      const double la = glm::length(a), lb = glm::length(b), lc = glm::length(c);
      solid_angle += 2.0 * std::atan2(glm::dot(a, glm::cross(b, c)),
                                      la * lb * lc + glm::dot(a, b) * lc + glm::dot(b, c) * la + glm::dot(c, a) * lb);
    }
    if (solid_angle > 6.0) return true;
  }
  return false;
}

// 16 mm down, then 50 mm sideways, `tilt` radians off the vertical. Returns the deepest penetration after any frame.
double push_and_drag(double speed, double tilt) {
  test::Press press{scene().mesh, scene().model};
  const glm::dvec3 shaft(std::sin(tilt), 0.0, std::cos(tilt));
  glm::dvec3 tip(tilt > 1.2 ? -0.03 : 0.0, 0.0, 0.04 + kRadius + 0.001), before = tip;
  double deepest = 0.0;
  for (double travelled = 0.0; travelled < 0.066; travelled += speed * kFrame, before = tip) {
    if (travelled < 0.016)
      tip.z -= std::min(speed * kFrame, 0.016 - travelled);
    else
      tip.y += speed * kFrame;
    const ToolStep tool{tip + 0.2 * shaft, before, tip, kRadius};
    press.frame(tool, static_cast<float>(kFrame));
    deepest = std::max(deepest, penetration(tool, press));
    EXPECT_FALSE(inside(tool, press)) << "speed " << speed << ", tilt " << tilt << ", travelled " << travelled;
  }
  return deepest;
}

TEST(ContactInMotion, HalfAMillimetreAtTwentyCentimetresASecond) {
  for (const double tilt : {0.0, 0.5, 1.0, 1.4, 1.5708}) {
    const double deepest = push_and_drag(0.2, tilt);
    EXPECT_LT(deepest, 5e-4) << "tilt " << tilt;
    std::printf("0.2 m/s, tilt %.2f: %.3f mm\n", tilt, 1e3 * deepest);
  }
}

TEST(ContactInMotion, NoTunnellingAtAMetreASecond) {
  for (const double tilt : {0.0, 0.5, 1.0, 1.4, 1.5708}) {
    const double deepest = push_and_drag(1.0, tilt);
    EXPECT_LT(deepest, 1e-3) << "tilt " << tilt;
    std::printf("1 m/s, tilt %.2f: %.3f mm\n", tilt, 1e3 * deepest);
  }
}

TEST(ContactInMotion, SlowDragSticksAndSlipsButNeverPierces) {
  const double deepest = push_and_drag(0.05, 0.5);
  EXPECT_LT(deepest, 5e-4);
  std::printf("0.05 m/s, tilt 0.5: %.3f mm\n", 1e3 * deepest);
}

}  // namespace
}  // namespace trocar
