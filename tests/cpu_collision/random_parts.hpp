// Makes random parts of instruments and random motions for property tests. Units: metres, radians.
#pragma once

#include <gtest/gtest.h>
#include <array>
#include <cstdio>
#include <string>

#include "cpu_collision/solids/convex_body.hpp"
#include "geometry/part.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar::test {

// Returns a part of any kind: a ball, a capsule, a flat or solid polytope, thin or thick, with or without a hinge.
inline PartShape random_part(Dice& dice) {
  std::vector<glm::vec3> points;
  const int count = dice.pick(4) == 0 ? 1 + dice.pick(3) : 4 + dice.pick(16);
  const double length = dice.log_uniform(1e-3, 2e-2), width = dice.log_uniform(1e-4, 1.0) * length;
  const double thickness = dice.pick(4) == 0 ? 0.0 : dice.log_uniform(1e-3, 1.0) * width;
  for (int i = 0; i < count; ++i)
    points.emplace_back(
        dvec3(dice.uniform(-width, width), dice.uniform(-thickness, thickness), dice.uniform(0.0, length)));
  PartShape shape = solids::part_hull(points, dice.log_uniform(1e-5, 1e-3));
  shape.hinge_z = dice.pick(2) ? length : dice.uniform(0.0, 0.03);
  shape.side = std::array{0.0, 1.0, -1.0}[dice.pick(3)];
  return shape;
}

inline InstrumentPose random_pose(Dice& dice, const ToolPose& shaft) {
  return {shaft, dice.uniform(-4.0, 4.0), dice.pick(3) == 0 ? 0.0 : dice.uniform(0.0, 1.2)};
}

// Returns a motion: roll and opening change by anything between nothing and more than a device allows.
inline InstrumentMotion motion_of(Dice& dice, const ToolStep& step) {
  const InstrumentPose before = random_pose(dice, pose_at(step, 0.0));
  InstrumentPose after{pose_at(step, 1.0), before.roll, before.opening};
  if (dice.pick(3) != 0) after.roll += dice.pick(2) ? dice.uniform(-3.0, 3.0) : dice.uniform(-0.1, 0.1);
  if (dice.pick(3) != 0) after.opening = dice.uniform(0.0, 1.2);
  return instrument_motion(before, after);
}

// Returns the usual motion of a frame: an arm of 5 to 25 cm, up to a few centimetres of motion.
inline InstrumentMotion usual_motion(Dice& dice, const dvec3& pivot) {
  const double before = dice.uniform(0.05, 0.25), after = before + dice.uniform(-0.01, 0.01);
  const double angle = dice.pick(4) == 0 ? 0.0 : dice.log_uniform(1e-6, 0.2);
  return motion_of(dice, step_with(dice, pivot, before, after, angle, 0.0025));
}

inline std::string words(const InstrumentMotion& motion) {
  const ToolStep& s = motion.shaft;
  char text[500];
  std::snprintf(text, sizeof text,
                "pivot %.17g %.17g %.17g tips %.17g %.17g %.17g -> %.17g %.17g %.17g radius %g swing %g spin %g "
                "opening %g -> %g",
                s.pivot.x, s.pivot.y, s.pivot.z, s.tip_before.x, s.tip_before.y, s.tip_before.z, s.tip_after.x,
                s.tip_after.y, s.tip_after.z, s.radius, motion.swing, motion.spin, motion.opening_before,
                motion.opening_after);
  return text;
}

template <class Check>
void for_every_motion(std::uint32_t seed, int random_motions, Check check) {
  std::printf("seed %u\n", seed);
  Dice dice(seed);
  for (const ToolStep& step : switch_steps(dice)) {
    check(dice, motion_of(dice, step));
    if (testing::Test::HasFailure()) return;
  }
  for (int i = 0; i < random_motions && !testing::Test::HasFailure(); ++i)
    check(dice, dice.pick(2) ? motion_of(dice, random_step(dice)) : usual_motion(dice, dice.in_cube(0.3)));
}

}  // namespace trocar::test
