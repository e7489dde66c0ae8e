// Tests rigid frames, the frame of a tool, and the boxes of slides and of wide swings, against their definitions.
#include "geometry/part.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "tests/geometry/random_steps.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using test::Dice;

RigidFrame random_frame(Dice& dice) {
  const dvec3 x = dice.direction(), y = dice.across(x);
  return {glm::dmat3(x, y, glm::cross(x, y)), dice.in_cube(1.0)};
}

TEST(RigidFrame, TakesPointsThereAndBack) {
  Dice dice(1350);
  std::printf("seed 1350\n");
  for (int i = 0; i < 1000; ++i) {
    const RigidFrame a = random_frame(dice), b = random_frame(dice), ab = relative(a, b);
    const dvec3 p = dice.in_cube(1.0);
    EXPECT_LT(glm::distance(a.to_world(p), a.origin + p.x * a.axes[0] + p.y * a.axes[1] + p.z * a.axes[2]), 1e-15);
    EXPECT_LT(glm::distance(a.to_local(a.to_world(p)), p), 2e-15);
    EXPECT_LT(glm::distance(a.to_world(ab.to_world(p)), b.to_world(p)), 4e-15);
    glm::dmat4 m(a.axes);
    m[3] = glm::dvec4(a.origin, 1.0);
    EXPECT_EQ(rigid_frame(m).axes, a.axes);
    EXPECT_EQ(rigid_frame(m).origin, a.origin);
  }
  EXPECT_EQ(RigidFrame{}.to_world({1, 2, 3}), dvec3(1, 2, 3));
}

// z points from tip to pivot, the origin lies a radius beyond the tip, and without a roll the axes are those of the
// world after the smallest rotation that takes the world's z there.
TEST(ToolFrame, IsTheSmallestRotationOfTheWorld) {
  Dice dice(1351);
  std::printf("seed 1351\n");
  for (int i = 0; i < 20000; ++i) {
    dvec3 z = dice.shaft_direction();
    if (dice.pick(4) == 0) z = glm::normalize(dvec3(0, 0, dice.pick(2) ? 1 : -1) + dice.log_uniform(1e-9, 1e-1) * z);
    const ToolPose pose{dice.in_cube(0.01), {}, dice.uniform(0.001, 0.01)};
    ToolPose tool = pose;
    tool.tip = pose.pivot - dice.uniform(0.05, 0.3) * z;
    const RigidFrame frame = tool_frame(tool, 0.0);
    ASSERT_LT(glm::distance(frame.axes[2], z), 1e-14) << i;
    ASSERT_LT(glm::distance(frame.origin, tool.tip - tool.radius * z), 1e-15) << i;
    ASSERT_LT(glm::distance(glm::cross(frame.axes[0], frame.axes[1]), frame.axes[2]), 1e-9) << i;
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) ASSERT_NEAR(glm::dot(frame.axes[a], frame.axes[b]), a == b, 1e-9) << i;
    if (z.z < -1.0 + 1e-6) continue;  // the rotation has no axis there
    // Half a turn about the bisector of both directions, after half a turn about the world's z.
    const dvec3 bisector = glm::normalize(z + dvec3(0, 0, 1));
    for (int a = 0; a < 2; ++a) {
      dvec3 axis(0.0);
      axis[a] = -1.0;
      const dvec3 turned = 2.0 * glm::dot(axis, bisector) * bisector - axis;
      ASSERT_LT(glm::distance(frame.axes[a], turned), 1e-9) << i;
    }
  }
}

// The roll turns x towards -y seen from the trocar: about the direction from trocar to tip.
TEST(ToolFrame, RollsAboutTheShaft) {
  Dice dice(1352);
  std::printf("seed 1352\n");
  for (int i = 0; i < 1000; ++i) {
    const ToolPose pose{dice.in_cube(0.3), dice.in_cube(0.3), 0.0025};
    if (!pose_fault(pose).empty()) continue;
    const double roll = dice.uniform(-7.0, 7.0), c = std::cos(roll), s = std::sin(roll);
    const RigidFrame still = tool_frame(pose, 0.0), rolled = tool_frame(pose, roll);
    ASSERT_LT(glm::distance(rolled.axes[0], c * still.axes[0] - s * still.axes[1]), 1e-14);
    ASSERT_LT(glm::distance(rolled.axes[1], c * still.axes[1] + s * still.axes[0]), 1e-14);
    ASSERT_EQ(rolled.origin, still.origin);
  }
}

dvec3 forward_of(const ToolVolume& volume) { return -dvec3(volume.view[0][2], volume.view[1][2], volume.view[2][2]); }

// A swing of more than 2 rad: the box is aligned with the longer arm and the plane of motion, and its sides touch the
// pivot and the tips, widened by the radius.
TEST(SwingBox, IsAlignedWithTheLongerArm) {
  Dice dice(1353);
  std::printf("seed 1353\n");
  for (int i = 0; i < 2000; ++i) {
    const double before = dice.uniform(0.05, 0.2), after = dice.uniform(0.05, 0.2), radius = dice.uniform(0.001, 0.01);
    const ToolStep step = test::step_with(dice, dice.in_cube(0.1), before, after, dice.uniform(2.01, 3.1), radius);
    const ToolVolume volume = swept_volume(step, Cover::Capsule);
    const dvec3 a = step.tip_before - step.pivot, b = step.tip_after - step.pivot;
    const dvec3 longer = glm::normalize(after > before ? b : a), across = glm::normalize(glm::cross(a, b));
    ASSERT_LT(glm::distance(forward_of(volume), longer), 1e-6) << i;
    ASSERT_NEAR(std::abs(glm::dot(dvec3(volume.planes[2]), across)), 1.0, 1e-6) << i;
    const double width = double(volume.planes[0].w) + volume.planes[1].w,
                 height = double(volume.planes[2].w) + volume.planes[3].w,
                 depth = double(volume.planes[4].w) + volume.planes[5].w;
    const double shorter = std::min(before, after), angle = std::acos(glm::dot(a, b) / (before * after));
    ASSERT_NEAR(width, shorter * std::sin(angle) + 2.0 * radius, 1e-6) << i;
    ASSERT_NEAR(height, 2.0 * radius, 1e-6) << i;
    ASSERT_NEAR(depth, std::max(before, after) - shorter * std::cos(angle) + 2.0 * radius, 1e-6) << i;
  }
}

// A slide: the box around the deeper shaft, widened by the distance of the other tip from it.
TEST(SlideBox, HoldsTheDeeperShaft) {
  Dice dice(1354);
  std::printf("seed 1354\n");
  for (int i = 0; i < 2000; ++i) {
    const double before = dice.uniform(0.05, 0.2), after = dice.uniform(0.05, 0.2), radius = dice.uniform(0.001, 0.01);
    const double angle = dice.pick(2) ? 0.0 : dice.uniform(1e-6, 0.99e-4);
    const ToolStep step = test::step_with(dice, dice.in_cube(0.1), before, after, angle, radius);
    const ToolVolume volume = swept_volume(step, Cover::Capsule);
    const dvec3 deep = (after > before ? step.tip_after : step.tip_before) - step.pivot;
    ASSERT_LT(glm::distance(forward_of(volume), glm::normalize(deep)), 1e-6) << i;
    const double half = radius + std::min(before, after) * std::sin(angle);
    for (int side = 0; side < 2; ++side)
      ASSERT_NEAR(double(volume.planes[2 * side].w) + volume.planes[2 * side + 1].w, 2.0 * half, 4e-7) << i;
    ASSERT_NEAR(double(volume.planes[4].w) + volume.planes[5].w, glm::length(deep) + 2.0 * radius, 4e-7) << i;
  }
}

}  // namespace
}  // namespace trocar
