// Jaws that hold a fold of the liver and pull it: nothing of the organ enters the jaws, and what they hold lies between
// them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "sim/session/cpu_backends.hpp"
#include "tests/sim/jaw_support.hpp"
#include "tests/sim/session_support.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using test::Place;

// Where the jaws grip: near this point, `roll_deg` about the normal; the shaft leans by `lean_deg` from the normal.
struct Grip {
  const char* name;
  dvec3 near;  // m
  double lean_deg, roll_deg;

  friend void PrintTo(const Grip& grip, std::ostream* out) { *out << grip.name; }
};

constexpr Grip kGrips[] = {{"dome", {-0.076, 0.090, 0.176}, 0.0, 0.0},
                           {"leaning", {-0.047, 0.055, 0.166}, 40.0, 60.0},
                           {"lobe", {0.002, 0.082, 0.177}, 20.0, 90.0}};

// Returns how deep a point lies below the surface of a part: the least distance from a plane of its hull; negative
// outside.
double depth_in(const PartShape& shape, std::span<const dvec3> corners, const dvec3& p) {
  double depth = 1.0;
  for (const glm::uvec3& face : shape.faces) {
    const dvec3& a = corners[face.x];
    const dvec3 normal = glm::cross(corners[face.y] - a, corners[face.z] - a);
    const double area = glm::length(normal);
    if (area > 1e-12) depth = std::min(depth, shape.radius - glm::dot(normal, p - a) / area);
  }
  return depth;
}

// Returns the depth of the deepest point of an organ's faces in the part, on a grid of an eighth of each edge.
double deepest_point(const PartShape& shape, const InstrumentMotion& motion, const Organ& organ) {
  constexpr int kSteps = 8;
  const PosedPart part(shape, frame_at(motion, shape, 1.0));
  const dvec3 centre = part.corners()[0];
  double deepest = -1.0;
  for (const glm::uvec3& face : organ.mesh.faces) {
    const Triangle t = triangle_of(organ.positions, face);
    if (glm::distance(t.a, centre) > 0.03) continue;
    for (int u = 0; u <= kSteps; ++u)
      for (int v = 0; u + v <= kSteps; ++v)
        deepest =
            std::max(deepest, depth_in(shape, part.corners(),
                                       t.a + (double(u) * (t.b - t.a) + double(v) * (t.c - t.a)) / double{kSteps}));
  }
  return deepest;
}

class JawHold : public ::testing::TestWithParam<Grip> {
 protected:
  CpuBackends backends_;
  Scene scene_ = test::liver_alone();
  DevicePose pose_{scene_.instruments[0].pivot, scene_.instruments[0].tip};
  Session session_{
      scene_, backends_, "scan", {}, [this](const InstrumentScene&) { return std::make_unique<PosedDevice>(&pose_); }};
};

// The jaws press 2.5 mm into the liver in half a second, close in a quarter of a second and draw back 10 mm. Pinched
// from a taut dome, tissue slides out of the jaws in part, and they hold what remains.
TEST_P(JawHold, NothingOfTheOrganEntersTheJaws) {
  const Organ& liver = session_.organs()[0];
  const Instrument& grasper = session_.instruments()[0];
  const Place place = test::place_near(liver, GetParam().near);
  const double lean = glm::radians(GetParam().lean_deg);
  const dvec3 side = glm::normalize(glm::cross(place.normal, dvec3(1, 0, 0)));
  const dvec3 shaft = std::cos(lean) * place.normal + std::sin(lean) * side;
  InstrumentBody body(InstrumentKind::Grasper, grasper.radius, grasper.limits);
  pose_ = {place.point + 0.16 * shaft, place.point, GetParam().roll_deg, 1.0};
  double open = 0.0, closing = 0.0, pulled = 0.0;  // m, deepest
  float pull = 0.f;
  std::size_t held = 0;
  for (int i = 0; i < 110; ++i) {
    const double down = std::min(i / 30.0, 1.0), back = std::clamp((i - 60) / 40.0, 0.0, 1.0);
    pose_.tip = place.point + (0.010 - 0.0125 * down + 0.010 * back) * shaft;
    pose_.grip = std::clamp(1.0 - (i - 35) / 15.0, 0.0, 1.0);
    session_.step({static_cast<std::uint64_t>(i), i * kFrame}, kFrame);
    body.move(nullptr, {grasper.pose, grasper.roll_deg, grasper.grip}, ToolMode::Swept, Cover::Capsule);
    double& deepest = i <= 35 ? open : i <= 60 ? closing : pulled;
    for (const PartShape& jaw : body.shapes()) deepest = std::max(deepest, deepest_point(jaw, body.motion(), liver));
    held += grasper.grasp.holding();
    pull = std::max(pull, glm::length(grasper.grasp.pull));
  }
  std::printf("%s: held in %zu frames, pull %.2f N; deepest %.2f mm open, %.2f mm closing, %.2f mm pulled\n",
              GetParam().name, held, static_cast<double>(pull), open * 1e3, closing * 1e3, pulled * 1e3);
  EXPECT_GT(held, 60u);
  EXPECT_GT(pull, 0.2f);
  EXPECT_LT(open, 6e-4);
  EXPECT_LT(closing, 6e-4);
  EXPECT_LT(pulled, 5e-4);
}

INSTANTIATE_TEST_SUITE_P(Places, JawHold, ::testing::ValuesIn(kGrips));

}  // namespace
}  // namespace trocar
