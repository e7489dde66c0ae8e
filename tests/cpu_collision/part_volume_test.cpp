// The volumes of a moving part contain every point that it passes: sampled over random parts and motions, and over
// every switch of case. Camera and half-spaces are those of a box (tests/geometry/tool_volume_test.cpp).
#include "geometry/part_volume.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/cpu_collision/random_parts.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using test::Dice;

constexpr double kContainment = 1e-7;  // m  allowed error from rounding a plane to float

double depth_inside(const ToolVolume& volume, const dvec3& at) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < volume.plane_count; ++i)
    least = std::min(least, glm::dot(dvec3(volume.planes[i]), at) + static_cast<double>(volume.planes[i].w));
  return least;
}

TEST(PartVolume, ContainsThePath) {
  double worst = 1.0;
  int several = 0;
  test::for_every_motion(1320, 100000, [&](Dice& dice, const InstrumentMotion& motion) {
    const PartShape shape = test::random_part(dice);
    const int pieces = volume_count(shape, motion);
    several += pieces > 1;
    for (int piece = 0; piece < pieces; ++piece) {
      const double from = static_cast<double>(piece) / pieces, to = static_cast<double>(piece + 1) / pieces;
      const ToolVolume volume = part_volume(shape, motion, from, to);
      ASSERT_LE(volume.plane_count, kMaxPlanes);
      for (int sample = 0; sample < 6; ++sample) {
        const double t = dice.pick(4) == 0 ? from : dice.uniform(from, to);
        const dvec3 corner = shape.corners[dice.pick(static_cast<int>(shape.corners.size()))];
        const dvec3 at = frame_at(motion, shape, t).to_world(corner) + shape.radius * dice.direction();
        worst = std::min(worst, depth_inside(volume, at));
      }
    }
    ASSERT_GE(worst, -kContainment) << test::words(motion);
  });
  std::printf("deepest cut into a path: %.3g m; motions with several volumes: %d\n", -worst, several);
  EXPECT_GT(several, 1000);
}

// A volume without use would be one much larger than the path: at rest the box touches the part on every side.
TEST(PartVolume, TouchesAPartAtRest) {
  Dice dice(1321);
  for (int i = 0; i < 1000; ++i) {
    const PartShape shape = test::random_part(dice);
    const InstrumentMotion motion =
        instrument_at_rest(test::random_pose(dice, {{0, 0, 0}, 0.1 * dice.direction(), 0.0025}));
    const ToolVolume volume = part_volume(shape, motion, 0.0, 1.0);
    EXPECT_EQ(volume_count(shape, motion), 1);
    const RigidFrame pose = frame_at(motion, shape, 0.0);
    for (int plane = 0; plane < volume.plane_count; ++plane) {
      double least = 1.0;
      for (const dvec3& corner : shape.corners)
        least = std::min(least, glm::dot(dvec3(volume.planes[plane]), pose.to_world(corner)) +
                                    static_cast<double>(volume.planes[plane].w) - shape.radius);
      EXPECT_NEAR(least, 0.0, 1e-7);
    }
  }
}

}  // namespace
}  // namespace trocar
