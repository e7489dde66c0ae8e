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

// The swing and its axis have closed forms, down to the angle below which the shaft keeps its direction.
TEST(PartMotion, SwingsByTheAngleBetweenTheShafts) {
  Dice dice(1306);
  std::printf("seed 1306\n");
  for (int i = 0; i < 2000; ++i) {
    const dvec3 d = dice.direction(), side = dice.across(d), pivot = dice.in_cube(1e-3);
    const double angle = dice.log_uniform(1e-11, 1.9), arm = dice.uniform(0.02, 0.3),
                 longer = arm * dice.uniform(1.0, 2.0);
    const InstrumentPose before{{pivot, pivot + arm * d, 0.0025}, 0.0, 0.0},
        after{{pivot, pivot + longer * (std::cos(angle) * d + std::sin(angle) * side), 0.0025}, 0.0, 0.0};
    const InstrumentMotion motion = instrument_motion(before, after);
    ASSERT_NEAR(motion.swing, angle, 1e-15 + 1e-14 * angle) << i;
    ASSERT_NEAR(glm::dot(motion.swing_axis, glm::cross(d, side)), 1.0, 1e-4) << i;
    ASSERT_NEAR(glm::length(motion.swing_axis), 1.0, 1e-12) << i;
  }
  const InstrumentPose before{{{0, 0, 0}, {0, 0, -0.2}, 0.0025}, 0.0, 0.0};
  for (const double tip : {0.0, 1e-14}) {
    const InstrumentMotion still = instrument_motion(before, {{{0, 0, 0}, {tip, 0, -0.2}, 0.0025}, 0.0, 0.0});
    EXPECT_EQ(still.swing, 0.0);
    EXPECT_EQ(still.swing_axis, dvec3(0.0));
  }
}

// The two limits beyond which a part rests at its end, from both sides.
TEST(PartMotion, MovesUpToTheLargestSwingAndDownToTheNearestTip) {
  const auto moves = [](const dvec3& from, const dvec3& to) {
    return instrument_motion({{{0, 0, 0}, from, 0.0025}, 0.0, 0.0}, {{{0, 0, 0}, to, 0.0025}, 0.0, 0.0})
               .shaft.tip_before == from;
  };
  for (const double angle : {0.0, 1.0, kLargestPartSwing - 1e-9})
    EXPECT_TRUE(moves({0.1, 0, 0}, {0.1 * std::cos(angle), 0.1 * std::sin(angle), 0})) << angle;
  for (const double angle : {kLargestPartSwing + 1e-9, 2.5, 3.0})
    EXPECT_FALSE(moves({0.1, 0, 0}, {0.1 * std::cos(angle), 0.1 * std::sin(angle), 0})) << angle;
  for (const double slack : {1e-9, 1e-3}) {
    const double far = kNearestToPivot + slack, near = kNearestToPivot - slack;
    EXPECT_TRUE(moves({0.003, far, 0}, {-0.003, far, 0}));  // nearest between the ends
    EXPECT_FALSE(moves({0.003, near, 0}, {-0.003, near, 0}));
    EXPECT_TRUE(moves({0, far, 0}, {0, 0.1, 0}));  // nearest at one end
    EXPECT_FALSE(moves({0, near, 0}, {0, 0.1, 0}));
    EXPECT_TRUE(moves({0, 0.1, 0}, {0, far, 0}));
    EXPECT_FALSE(moves({0, 0.1, 0}, {0, near, 0}));
  }
}

// A point is pivot + S Z (h - D e). Its bounds for motions with one rate each, or all: the first derivative is the sum
// of rate times arm, the second that of squared rates times arms, of own accelerations, and twice each pair of rates.
TEST(PartMotion, BoundsOfHandMadeMotions) {
  constexpr double kTip = 0.16, kHalfStep = 0.012, kRadius = 0.0025;
  PartShape shape;
  shape.corners = {{0.003, -0.004, 0.02}, {0.001, 0.0, 0.001}, {0.0, 0.002, -0.001}};
  shape.hinge_z = 0.015;
  const double to_hinge = glm::length(dvec3(0.003, -0.004, 0.005)), far_hinge = glm::length(dvec3(0.0, 0.002, -0.016));
  for (int kind = 0; kind < 16; ++kind) {
    const bool swings = kind & 1, spins = kind & 2, slides = kind & 8;
    shape.side = kind & 4 ? -1.0 : 0.0;
    // The tip moves across the shaft, past its nearest point, or along the shaft.
    dvec3 from(0, 0, -kTip), to = from;
    if (swings) from.x = -kHalfStep, to.x = kHalfStep;
    if (slides && !swings) to.z -= 0.02;
    const double moved = glm::distance(from, to), farthest = std::max(glm::length(from), glm::length(to));
    InstrumentMotion motion =
        instrument_motion({{{0, 0, 0}, from, kRadius}, 0.0, 0.3}, {{{0, 0, 0}, to, kRadius}, 0.0, 1.1});
    motion.spin = spins ? -0.7 : 0.0;
    const bool opens = shape.side != 0.0;
    const double from_hinge = std::max(to_hinge, far_hinge);
    const double arm = farthest + kRadius + (opens ? 0.015 + from_hinge : glm::length(shape.corners[0]));
    const double across = opens ? from_hinge : 0.005;
    const double swing = swings ? moved / kTip : 0.0, spin = spins ? 0.7 : 0.0, turn = opens ? 0.4 : 0.0;
    const double speeds[] = {swing * arm, spin * across, turn * from_hinge, moved};
    const double slide_acceleration = moved * moved / kTip, swing_acceleration = 2.0 * swing * moved / kTip * arm;
    const double pairs = swing * (speeds[1] + speeds[2] + speeds[3]) + spin * speeds[2];
    const MotionBounds bounds = motion_bounds(motion, shape);
    EXPECT_NEAR(bounds.speed, speeds[0] + speeds[1] + speeds[2] + speeds[3], 1e-15) << kind;
    EXPECT_NEAR(
        bounds.acceleration,
        swing * speeds[0] + spin * speeds[1] + turn * speeds[2] + slide_acceleration + swing_acceleration + 2.0 * pairs,
        1e-15)
        << kind;
  }
}

// Without a swing the bound of the speed is the speed of the fastest corner.
TEST(PartMotion, BoundOfTheSpeedIsTightWithoutASwing) {
  test::for_every_motion(1307, 2000, [](Dice& dice, const InstrumentMotion& moving) {
    PartShape shape = test::random_part(dice);
    InstrumentMotion motion = instrument_at_rest({pose_at(moving.shaft, 1.0), 0.0, 0.2});
    if (dice.pick(2)) {
      shape.side = 0.0, motion.spin = dice.uniform(-3.0, 3.0);
    } else {
      motion.opening_after = dice.uniform(-1.0, 1.0);
      for (dvec3& corner : shape.corners) corner.x = 0.0;  // the hinge is parallel to x
    }
    double fastest = 0.0;
    const PartVelocity velocity = velocity_at(motion, shape, 0.5);
    for (const dvec3& corner : shape.corners)
      fastest = std::max(fastest, glm::length(velocity.at(frame_at(motion, shape, 0.5).to_world(corner))));
    ASSERT_NEAR(motion_bounds(motion, shape).speed, fastest, 1e-12) << test::words(motion);
  });
}

}  // namespace
}  // namespace trocar
