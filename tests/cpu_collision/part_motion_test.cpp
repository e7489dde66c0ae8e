// Compares the motion of a part with its definition: end poses, an even spin, the path of the tip, velocities by finite
// differences, and the bounds of speed and acceleration.
#include <gtest/gtest.h>

#include "geometry/part.hpp"
#include "tests/cpu_collision/random_parts.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using test::Dice;

double difference(const RigidFrame& a, const RigidFrame& b) {
  double most = glm::distance(a.origin, b.origin);
  for (int axis = 0; axis < 3; ++axis) most = std::max(most, glm::distance(a.axes[axis], b.axes[axis]));
  return most;
}

TEST(PartMotion, BeginsAndEndsInThePosesOfTheInstrument) {
  Dice dice(1301);
  std::printf("seed 1301\n");
  for (int i = 0; i < 20000; ++i) {
    const ToolStep step =
        dice.pick(2) ? test::random_step(dice) : test::step_with(dice, dice.in_cube(0.3), 0.15, 0.15, 0.01, 0.0025);
    const InstrumentPose before = test::random_pose(dice, pose_at(step, 0.0)),
                         after = test::random_pose(dice, pose_at(step, 1.0));
    const InstrumentMotion motion = instrument_motion(before, after);
    EXPECT_LT(difference(frame_at(motion, 1.0), tool_frame(after.shaft, after.roll)), 1e-9) << test::words(motion);
    EXPECT_NEAR(opening_at(motion, 1.0), after.opening, 1e-15);
    if (motion.shaft.tip_before != step.tip_before) continue;  // at rest in the end pose
    EXPECT_LT(difference(frame_at(motion, 0.0), tool_frame(before.shaft, before.roll)), 1e-9);
    EXPECT_EQ(opening_at(motion, 0.0), before.opening);
  }
}

// The frame's origin stays a radius beyond the tip, its z axis on the shaft, and its spin about the shaft is even: the
// angle between a frame that only swings and this one grows in proportion to time.
TEST(PartMotion, FollowsTheShaftAndSpinsEvenly) {
  test::for_every_motion(1302, 5000, [](Dice& dice, const InstrumentMotion& motion) {
    const double t = dice.uniform(0.0, 1.0);
    const RigidFrame frame = frame_at(motion, t);
    const ToolPose shaft = pose_at(motion.shaft, t);
    const dvec3 d = glm::normalize(shaft.tip - shaft.pivot);
    ASSERT_LT(glm::distance(frame.axes[2], -d), 1e-9) << test::words(motion);
    ASSERT_LT(glm::distance(frame.origin, shaft.tip + shaft.radius * d), 1e-9);
    InstrumentMotion unspun = motion;
    unspun.spin = 0.0;
    const dvec3 x = frame_at(unspun, t).axes[0];
    const double angle = std::atan2(glm::dot(glm::cross(x, frame.axes[0]), d), glm::dot(x, frame.axes[0]));
    ASSERT_NEAR(angle, motion.spin * t, 1e-9) << test::words(motion);
  });
}

TEST(PartMotion, TheHingeTurnsEachSideByHalfTheOpening) {
  PartShape jaw;
  jaw.corners = {{0.0, 0.001, 0.0}};
  jaw.hinge_z = 0.016;
  for (const double side : {1.0, -1.0}) {
    jaw.side = side;
    const InstrumentMotion still = instrument_at_rest({{{0, 0, 0.2}, {0, 0, 0}, 0.0025}, 0.0, 0.8});
    const RigidFrame tool = tool_frame({{0, 0, 0.2}, {0, 0, 0}, 0.0025}, 0.0), frame = frame_at(still, jaw, 0.3);
    const dvec3 hinge = tool.to_world({0, 0, 0.016});
    EXPECT_NEAR(glm::distance(frame.to_world({0, 0, 0.016}), hinge), 0.0, 1e-15);
    EXPECT_NEAR(std::acos(glm::dot(frame.axes[2], tool.axes[2])), 0.4, 1e-12);
    // Side +1 opens towards +y: its end lies there.
    EXPECT_GT(side * glm::dot(frame.to_world({0, 0, 0}) - tool.origin, tool.axes[1]), 0.005);
  }
}

TEST(PartMotion, VelocityIsTheDerivativeAndStaysWithinTheBounds) {
  constexpr double kStep = 1e-5;
  test::for_every_motion(1304, 10000, [](Dice& dice, const InstrumentMotion& motion) {
    const PartShape shape = test::random_part(dice);
    const double t = dice.uniform(2.0 * kStep, 1.0 - 2.0 * kStep);
    const MotionBounds bounds = motion_bounds(motion, shape);
    const PartVelocity velocity = velocity_at(motion, shape, t);
    for (const dvec3& corner : shape.corners) {
      const auto at = [&](double time) { return frame_at(motion, shape, time).to_world(corner); };
      const dvec3 before = at(t - kStep), now = at(t), after = at(t + kStep);
      const dvec3 slope = (after - before) / (2.0 * kStep), exact = velocity.at(now);
      const double third = 1e-7 * bounds.speed + 20.0 * kStep * bounds.acceleration;
      ASSERT_LT(glm::distance(slope, exact), 1e-9 + third) << test::words(motion);
      ASSERT_LE(glm::length(exact), bounds.speed * (1.0 + 1e-9) + 1e-12) << test::words(motion);
      const double curvature = glm::length(velocity_at(motion, shape, t + kStep).at(after) -
                                           velocity_at(motion, shape, t - kStep).at(before)) /
                               (2.0 * kStep);
      ASSERT_LE(curvature, bounds.acceleration * (1.0 + 1e-6) + 1e-9) << test::words(motion);
    }
  });
}

// A tip that passes the trocar, or nearly, has no continuous motion: the parts rest in the end pose.
TEST(PartMotion, PastTheTrocarAPartRestsAtTheEnd) {
  const InstrumentPose before{{{0, 0, 0}, {0, 0, -0.1}, 0.0025}, 0.3, 0.2};
  for (const dvec3& tip : {dvec3(0, 0, 0.1), dvec3(1e-3, 0, -1e-3), dvec3(0.1, 0, 0.1)}) {
    const InstrumentPose after{{{0, 0, 0}, tip, 0.0025}, 0.1, 0.7};
    const InstrumentMotion motion = instrument_motion(before, after);
    for (const double t : {0.0, 0.5, 1.0})
      EXPECT_LT(difference(frame_at(motion, t), tool_frame(after.shaft, after.roll)), 1e-12);
    EXPECT_EQ(opening_at(motion, 0.0), 0.7);
  }
}

}  // namespace
}  // namespace trocar
