// Tests touches of instrument tips, which are convex pieces. The touched candidates equal those of a test of all faces,
// for any candidates, and the candidate capsule contains every part of the tip.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>

#include "cpu_collision/queries.hpp"
#include "sim/session/tip_touch.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

constexpr InstrumentKind kKinds[] = {InstrumentKind::Probe, InstrumentKind::Grasper, InstrumentKind::Hook,
                                     InstrumentKind::Scissors};

class TipTouchOf : public testing::TestWithParam<InstrumentKind> {};

// Returns a stance near the origin.
TipStance random_stance(std::mt19937& random) {
  std::uniform_real_distribution<double> unit(-1.0, 1.0), share(0.0, 1.0);
  const glm::dvec3 tip = 0.03 * glm::dvec3(unit(random), unit(random), unit(random));
  const glm::dvec3 back(unit(random), unit(random), 1.2 + unit(random));
  return {{tip + 0.2 * back, tip, 0.0025}, 180.0 * unit(random), share(random)};
}

TEST_P(TipTouchOf, TheCapsuleContainsEveryPart) {
  const unsigned seed = 41;
  std::mt19937 random(seed);
  SCOPED_TRACE(seed);
  const TipTouch tip(GetParam(), 0.0025, {});
  for (int round = 0; round < 300; ++round) {
    const TipStance stance = random_stance(random);
    const ToolVolume around = tip.around(stance);
    for (const ToolPart& part : tip_parts(GetParam(), 0.0025)) {
      const glm::dmat4 pose = part_pose(stance.pose, stance.roll_deg, stance.grip, part, {});
      for (const glm::vec3& corner : part.mesh.positions) {
        const glm::dvec3 p(pose * glm::dvec4(glm::dvec3(corner), 1.0));
        for (int plane = 0; plane < around.plane_count; ++plane)
          EXPECT_GE(glm::dot(glm::dvec4(around.planes[plane]), glm::dvec4(p, 1.0)), 0.0);
      }
    }
  }
}

TEST_P(TipTouchOf, AgreesWithATestOfAllFaces) {
  const unsigned seed = 42;
  std::mt19937 random(seed);
  SCOPED_TRACE(seed);
  const TriangleMesh ball = shapes::icosphere(4, 0.03f);
  TipTouch tip(GetParam(), 0.0025, {}), twin(GetParam(), 0.0025, {});
  std::vector<Touch> all(ball.faces.size());
  for (std::uint32_t face = 0; face < all.size(); ++face) all[face].face = FaceId(face);
  const auto scan = make_scan_query();
  scan->rebuild(ball.view());
  scan->update(ball.positions);
  std::size_t touched = 0;
  for (int round = 0; round < 400; ++round) {
    const TipStance stance = random_stance(random);
    const ToolVolume around = tip.around(stance);
    const auto found = tip.touched(stance, ball.view(), scan->touched({&around, 1}, TouchSet::Exact).of_tool(0));
    const auto expected = twin.touched(stance, ball.view(), all);
    EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin(), expected.end())) << "round " << round;
    touched += found.size();
  }
  EXPECT_GT(touched, 400u);
  std::printf("%s: %zu pieces, one-sided Hausdorff distance %.3f mm, %zu faces touched\n", name_of(GetParam()),
              tip.pieces(), tip.deviation() * 1e3, touched);
}

INSTANTIATE_TEST_SUITE_P(Kinds, TipTouchOf, testing::ValuesIn(kKinds),
                         [](const auto& kind) { return std::string(name_of(kind.param)); });

}  // namespace
}  // namespace trocar
