#include "geometry/part.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/elementary.hpp"
#include "geometry/turn.hpp"

namespace trocar {
namespace {

using glm::dvec3;

// Below this sine the shaft keeps its direction.
constexpr double kNoSwing = 1e-12;

// The shaft at `time`: its tip relative to the pivot, and how that changes.
struct Arm {
  dvec3 to_tip;   // m
  double length;  // m
  dvec3 unit;     // from pivot to tip
};

Arm arm_at(const ToolStep& step, double time) {
  const dvec3 to_tip = pose_at(step, time).tip - step.pivot;
  const double length = glm::length(to_tip);
  return {to_tip, length, to_tip / length};
}

// Returns the smallest rotation from one unit vector to another that is less than half a turn away.
glm::dquat smallest_turn(const dvec3& from, const dvec3& to) {
  const dvec3 across = glm::cross(from, to);
  const glm::dquat doubled(1.0 + glm::dot(from, to), across);
  return doubled / glm::length(doubled);
}

double nearest_to_pivot(const ToolStep& step) {
  const dvec3 a = step.tip_before - step.pivot, d = step.tip_after - step.tip_before;
  const double square = glm::dot(d, d);
  const double t = square > 0.0 ? std::clamp(-glm::dot(a, d) / square, 0.0, 1.0) : 0.0;
  return glm::length(a + t * d);
}

// The rotation rate of the shaft is doubled_area / length^2.
double doubled_area(const ToolStep& step) {
  return glm::length(glm::cross(step.tip_before - step.pivot, step.tip_after - step.pivot));
}

double side_turn(const InstrumentMotion& motion, const PartShape& shape, double time) {
  return 0.5 * shape.side * opening_at(motion, time);
}

}  // namespace

InstrumentMotion instrument_at_rest(const InstrumentPose& pose) {
  InstrumentMotion motion;
  motion.shaft = step_at_rest(pose.shaft);
  motion.start = tool_frame(pose.shaft, pose.roll);
  motion.before = arm_at(motion.shaft, 0.0).unit;
  motion.opening_before = motion.opening_after = pose.opening;
  return motion;
}

InstrumentMotion instrument_motion(const InstrumentPose& before, const InstrumentPose& after) {
  const ToolStep step = step_between(before.shaft, after.shaft);
  const dvec3 a = step.tip_before - step.pivot, b = step.tip_after - step.pivot, across = glm::cross(a, b);
  const double area = glm::length(across), swing = elementary::atan2(area, glm::dot(a, b));
  if (swing > kLargestPartSwing || nearest_to_pivot(step) < kNearestToPivot) return instrument_at_rest(after);
  InstrumentMotion motion;
  motion.shaft = step;
  motion.start = tool_frame(pose_at(step, 0.0), before.roll);
  motion.before = glm::normalize(a);
  if (area > kNoSwing * glm::length(a) * glm::length(b)) motion.swing_axis = across / area, motion.swing = swing;
  motion.opening_before = before.opening;
  motion.opening_after = after.opening;
  // The spin that remains between the swung frame and the frame at the end.
  const dvec3 swung = smallest_turn(motion.before, glm::normalize(b)) * motion.start.axes[0];
  const dvec3 wanted = tool_frame(after.shaft, after.roll).axes[0];
  motion.spin = elementary::atan2(glm::dot(glm::cross(swung, wanted), glm::normalize(b)), glm::dot(swung, wanted));
  return motion;
}

RigidFrame frame_at(const InstrumentMotion& motion, double time) {
  const Arm arm = arm_at(motion.shaft, time);
  const glm::dquat turn = smallest_turn(motion.before, arm.unit) * turn_about(motion.before, motion.spin * time);
  return {glm::mat3_cast(turn) * motion.start.axes, pose_at(motion.shaft, time).tip + motion.shaft.radius * arm.unit};
}

double opening_at(const InstrumentMotion& motion, double time) {
  return motion.opening_before + time * (motion.opening_after - motion.opening_before);
}

RigidFrame frame_at(const InstrumentMotion& motion, const PartShape& shape, double time) {
  const RigidFrame frame = frame_at(motion, time);
  if (shape.side == 0.0) return frame;
  const glm::dmat3 turn = glm::mat3_cast(turn_about(dvec3(1, 0, 0), side_turn(motion, shape, time)));
  const dvec3 hinge(0.0, 0.0, shape.hinge_z);
  return {frame.axes * turn, frame.to_world(hinge - turn * hinge)};
}

PartVelocity velocity_at(const InstrumentMotion& motion, const PartShape& shape, double time) {
  const Arm arm = arm_at(motion.shaft, time);
  const RigidFrame frame = frame_at(motion, time);
  const dvec3 slide = motion.shaft.tip_after - motion.shaft.tip_before;
  const dvec3 turn =
      doubled_area(motion.shaft) / (arm.length * arm.length) * motion.swing_axis + motion.spin * arm.unit;
  const double opening = 0.5 * shape.side * (motion.opening_after - motion.opening_before);
  const dvec3 hinge = frame.to_world(dvec3(0.0, 0.0, shape.hinge_z));
  return {hinge, glm::cross(turn, hinge - motion.shaft.pivot) + glm::dot(slide, arm.unit) * arm.unit,
          turn + opening * frame.axes[0]};
}

// A point is pivot + S Z (h - D e): S swings, Z spins, h turns about the hinge and D is the distance of the frame's
// origin from the pivot. The bounds are the triangle inequality for the first and second derivative of this product.
MotionBounds motion_bounds(const InstrumentMotion& motion, const PartShape& shape) {
  double from_end = 0.0, from_hinge = 0.0, from_axis = 0.0;
  const dvec3 hinge(0.0, 0.0, shape.hinge_z);
  for (const dvec3& corner : shape.corners) {
    const double to_hinge = glm::distance(corner, hinge);
    from_hinge = std::max(from_hinge, to_hinge);
    from_end = std::max(from_end, shape.side == 0.0 ? glm::length(corner) : std::abs(shape.hinge_z) + to_hinge);
    from_axis =
        std::max(from_axis, shape.side == 0.0 ? std::sqrt(corner.x * corner.x + corner.y * corner.y) : to_hinge);
  }
  const ToolStep& step = motion.shaft;
  const double nearest = nearest_to_pivot(step), moved = glm::distance(step.tip_before, step.tip_after);
  const double farthest =
      std::max(glm::distance(step.pivot, step.tip_before), glm::distance(step.pivot, step.tip_after));
  const double reach = farthest + step.radius + from_end, area = doubled_area(step);
  const double swing = area / (nearest * nearest), swing_rate = 2.0 * area * moved / (nearest * nearest * nearest);
  const double spin = std::abs(motion.spin), spun = spin * from_axis;
  const double turn = 0.5 * std::abs(shape.side * (motion.opening_after - motion.opening_before)),
               turned = turn * from_hinge;
  return {swing * reach + spun + turned + moved, (swing_rate + swing * swing) * reach + spin * spun + turn * turned +
                                                     moved * moved / nearest +
                                                     2.0 * (swing * (spun + turned + moved) + spin * turned)};
}

}  // namespace trocar
