// Compares touches with closed forms where rounding is hardest: sides nearly parallel to the shaft, and depths through
// every part of the end pose.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "geometry/refine.hpp"
#include "tests/geometry/random_faces.hpp"
#include "tests/geometry/slow_distance.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using test::Dice;

constexpr std::uint32_t kSeed = 52;

// Faces with a side nearly parallel to the shaft, which it crosses or passes: the closest points there come from cross
// products.
TEST(RefineTouches, NearlyParallelSides) {
  std::printf("seed %u\n", kSeed + 7);
  Dice dice(kSeed + 7);
  double worst = 0.0, worst_one = 0.0;
  for (int i = 0; i < 4000 && !HasFailure(); ++i) {
    const double length = dice.uniform(0.05, 0.2), radius = dice.uniform(0.001, 0.005);
    const ToolPose pose{{0, 0, 0}, length * dice.direction(), radius};
    const dvec3 d = glm::normalize(pose.tip), side = dice.across(d), up = glm::cross(d, side);
    const double angle = dice.pick(4) ? dice.log_uniform(1e-12, 1e-3) : 0.0, height = dice.uniform(0.0, 0.9) * radius;
    // The side passes the shaft at `height` at one half of its length; the face lies beyond it.
    const dvec3 middle = 0.5 * pose.tip + height * up, along = d + angle * side;
    const Triangle face{middle - 0.01 * along, middle + 0.01 * along, middle + 0.02 * up};
    const ToolStep step = step_at_rest(pose);
    Touch one, four;
    ASSERT_TRUE(refine_touch(step, face, one));
    const FaceId id{3};
    ASSERT_EQ(refine_touches(step, std::span(&face, 1), std::span(&id, 1), std::span(&four, 1)), 1u);
    ASSERT_EQ(four.face, id);
    ASSERT_EQ(four.time, 0.f);
    // The distance is known: the point's, from the shaft.
    worst_one =
        std::max(worst_one, std::abs(test::slow_point_segment(dvec3(one.point), pose.pivot, pose.tip) - height));
    worst = std::max(worst, std::abs(test::slow_point_segment(dvec3(four.point), pose.pivot, pose.tip) - height));
    ASSERT_NEAR(four.depth, one.depth, 1e-6) << "angle " << angle;
    ASSERT_NEAR(four.depth, radius - height, 1e-6) << "angle " << angle;
  }
  std::printf("error of the distance: %.3g m one by one, %.3g m four at a time\n", worst_one, worst);
  EXPECT_LT(worst, 1e-8);
  EXPECT_LT(worst_one, 1e-8);
}

// The depth of a face that the tool has passed, or that lies in front of its end: the exit of the end pose, through its
// side, its tip or its pivot. Closed forms for a shaft along y.
TEST(RefineTouches, DepthThroughEveryPartOfTheEndPose) {
  const ToolStep step{{0, 0, 0}, {0.03, -0.1, 0}, {0, -0.1, 0}, 0.004};
  std::printf("seed %u\n", kSeed + 8);
  Dice dice(kSeed + 8);
  int side = 0, ends = 0;
  for (int i = 0; i < 20000 && !HasFailure(); ++i) {
    const Triangle face = test::face_near(dice, step);
    const FaceId id{0};
    Touch touch;
    if (refine_touches(step, std::span(&face, 1), std::span(&id, 1), std::span(&touch, 1)) == 0) continue;
    const dvec3 from(touch.point), out = -glm::normalize(dvec3(touch.normal));
    // The farthest crossing of the ray with the side or with one of the spheres.
    double exit = 0.0;
    const double a = out.x * out.x + out.z * out.z, b = from.x * out.x + from.z * out.z,
                 c = from.x * from.x + from.z * from.z - step.radius * step.radius;
    if (a > 1e-9 && b * b >= a * c) {
      const double t = (std::sqrt(b * b - a * c) - b) / a, y = from.y + t * out.y;
      if (y <= 0.0 && y >= -0.1 && t > exit) exit = t;
    }
    const bool by_side = exit > 0.0;
    for (const dvec3& centre : {step.pivot, step.tip_after}) {
      const dvec3 r = from - centre;
      const double half = glm::dot(r, out), under = half * half - glm::dot(r, r) + step.radius * step.radius;
      if (under >= 0.0) exit = std::max(exit, std::sqrt(under) - half);
    }
    // Where the ray grazes the tool, rounding of the normal to float decides.
    const double graze = std::abs(b * b - a * c) / (a * a + 1e-9);
    if (graze < 1e-9 || a < 1e-3) continue;
    ASSERT_NEAR(touch.depth, exit, 2e-6 + 1e-12 / graze) << i;
    (by_side ? side : ends) += exit > 0.0;
  }
  std::printf("%d through the side, %d through the ends\n", side, ends);
  EXPECT_GT(side, 1000);
  EXPECT_GT(ends, 100);
}

}  // namespace
}  // namespace trocar
