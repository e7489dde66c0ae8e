// Compares the region of closing blades with the drawn blades, at random poses, rolls and apertures.
#include "sim/session/cutting.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "sim/device/tool_shape.hpp"

namespace trocar {
namespace {

TEST(BladeCut, LiesBetweenTheDrawnBlades) {
  constexpr std::uint32_t kSeed = 5;
  std::printf("seed %u\n", kSeed);
  std::mt19937 random(kSeed);
  const auto uniform = [&](double low, double high) { return low + (high - low) * (random() >> 8) / 16777216.0; };
  for (int round = 0; round < 200; ++round) {
    Instrument scissors;
    scissors.kind = InstrumentKind::Scissors;
    scissors.radius = 0.0025;
    scissors.pose = {
        {uniform(-0.1, 0.1), uniform(-0.1, 0.1), 0.3}, {uniform(-0.1, 0.1), uniform(-0.1, 0.1), 0.1}, 0.0025};
    scissors.roll_deg = uniform(-180.0, 180.0);
    scissors.opened = uniform(0.2, 1.0);
    scissors.blades.length = 0.010;
    const BladeCut cut = blade_cut(scissors);
    const auto flat = [&](const glm::dvec3& p) {
      const glm::dvec3 q = p - glm::dvec3(cut.origin);
      return glm::dvec3(glm::dot(q, glm::dvec3(cut.along)), glm::dot(q, glm::dvec3(cut.across)),
                        glm::dot(q, glm::cross(glm::dvec3(cut.along), glm::dvec3(cut.across))));
    };
    const auto depth = [&](const glm::dvec3& p) {
      double least = INFINITY;
      for (int k = 0; k < cut.corners; ++k) {
        const glm::dvec2 a(cut.outline[k]), side = glm::dvec2(cut.outline[(k + 1) % cut.corners]) - a;
        least = std::min(least, (side.x * (p.y - a.y) - side.y * (p.x - a.x)) / glm::length(side));
      }
      return least;
    };
    // The tips of the blades at their widest lie 1.5 mm inside the region, up to the blades' size, and stay inside as
    // they close.
    for (const ToolPart& part : tip_parts(scissors.kind, scissors.radius))
      for (const glm::vec3& p : part.mesh.positions) {
        if (p.z > 1e-4f) continue;
        const auto at = [&](double grip) {
          return flat(glm::dvec3(part_pose(scissors.pose, scissors.roll_deg, grip, part, scissors.limits) *
                                 glm::dvec4(p, 1.0)));
        };
        EXPECT_LT(std::abs(at(scissors.opened).z), 0.0009);
        EXPECT_NEAR(depth(at(scissors.opened)), 0.0015, 0.0007);
        for (const double share : {0.0, 0.3, 0.6}) EXPECT_GT(depth(at(share * scissors.opened)), 0.0013);
      }
    // It begins 10 mm behind the tips, along both sides, and ends 1.5 mm beyond them.
    EXPECT_GT(depth({0.0045, 0.0, 0.0}), 0.0);
    EXPECT_LT(depth({0.0020, 0.0, 0.0}), 0.0);
    EXPECT_GT(depth({0.0150, 0.0, 0.0}), 0.0);
    EXPECT_LT(depth({0.0156, 0.0, 0.0}), 0.0);
  }
}

}  // namespace
}  // namespace trocar
