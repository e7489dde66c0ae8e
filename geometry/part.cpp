#include "geometry/part.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "geometry/closest.hpp"
#include "geometry/elementary.hpp"

namespace trocar {

using glm::dvec3;

RigidFrame tool_frame(const ToolPose& pose, double roll) {
  const dvec3 z = glm::normalize(pose.pivot - pose.tip);
  const double q = 1.0 / std::max(1.0 + z.z, 1e-9);
  const dvec3 side(1.0 - z.x * z.x * q, -z.x * z.y * q, -z.x);
  // Near -z the formula has lost its digits.
  const dvec3 x = glm::normalize(1.0 + z.z < 1e-6 ? side - glm::dot(side, z) * z : side);
  // The roll is about the direction from trocar to tip.
  const glm::dmat3 turn = glm::mat3_cast(turn_about(dvec3(0, 0, 1), -roll));
  return {glm::dmat3(x, glm::cross(z, x), z) * turn, pose.tip - pose.radius * z};
}

namespace {

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

// Returns the largest speed of the tip along the shaft, m/step. The tip's distance from the pivot is a convex function
// of time, so it changes fastest at one end.
double slide_speed(const ToolStep& step) {
  const dvec3 slide = step.tip_after - step.tip_before;
  double fastest = 0.0;
  for (const dvec3& tip : {step.tip_before, step.tip_after})
    fastest = std::max(fastest, std::abs(glm::dot(slide, glm::normalize(tip - step.pivot))));
  return fastest;
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
  return {swing * reach + spun + turned + slide_speed(step),
          (swing_rate + swing * swing) * reach + spin * spun + turn * turned + moved * moved / nearest +
              2.0 * (swing * (spun + turned + moved) + spin * turned)};
}

namespace {

// A shorter motion has no direction.
constexpr double kNoMotion = 1e-9;  // m
// Rounding in double, relative to the coordinates.
constexpr double kRounding = 1e-15;

// Between two times that are `interval` apart, a point leaves the straight line between its positions by no more.
double sagitta(double acceleration, double interval) { return 0.125 * acceleration * interval * interval; }

dvec3 centre_of(const PartShape& shape) {
  dvec3 low = shape.corners[0], high = shape.corners[0];
  for (const dvec3& corner : shape.corners) low = glm::min(low, corner), high = glm::max(high, corner);
  return 0.5 * (low + high);
}

// The box looks along the part; its right side points where the part moves, or lies across the part when it rests.
// `forward` is less than half a turn away from the first direction, so the first x axis is never parallel to it.
ViewFrame frame_along(const RigidFrame& first, const RigidFrame& last, const dvec3& centre) {
  const dvec3 forward = glm::normalize(-(first.axes[2] + last.axes[2]));
  const dvec3 moved = last.to_world(centre) - first.to_world(centre);
  const dvec3 aside = moved - glm::dot(moved, forward) * forward;
  const double length = glm::length(aside);
  dvec3 right = first.axes[0] - glm::dot(first.axes[0], forward) * forward;
  if (length > kNoMotion) right = aside / length;
  right = glm::normalize(right);
  return {0.5 * (first.to_world(centre) + last.to_world(centre)), right, glm::cross(right, forward), forward};
}

}  // namespace

int volume_count(const PartShape& shape, const InstrumentMotion& motion, const PartCoverParams& params) {
  const double pieces = std::sqrt(sagitta(motion_bounds(motion, shape).acceleration, 1.0) / params.largest_sagitta);
  return static_cast<int>(std::clamp(std::ceil(pieces), 1.0, static_cast<double>(params.most_pieces)));
}

ToolVolume part_volume(const PartShape& shape, const InstrumentMotion& motion, double from, double to) {
  const RigidFrame first = frame_at(motion, shape, from), last = frame_at(motion, shape, to);
  const ViewFrame frame = frame_along(first, last, centre_of(shape));
  dvec3 low(std::numeric_limits<double>::infinity()), high = -low;
  for (const dvec3& corner : shape.corners) {
    for (const RigidFrame& pose : {first, last}) {
      const dvec3 at = pose.to_world(corner) - frame.origin;
      const dvec3 along(glm::dot(frame.right, at), glm::dot(frame.up, at), glm::dot(frame.forward, at));
      low = glm::min(low, along);
      high = glm::max(high, along);
    }
  }
  const dvec3 size = glm::abs(frame.origin);
  const double margin = shape.radius + sagitta(motion_bounds(motion, shape).acceleration, to - from) +
                        kRounding * std::max({size.x, size.y, size.z});
  ToolVolume volume = box_volume(motion.shaft, frame, low - margin, high + margin);
  volume.step.radius += glm::distance(low, high) + margin;
  volume.step.part = {&shape, &motion, from, to};
  return volume;
}

PartBounds part_bounds(const PartShape& shape, const InstrumentMotion& motion) {
  const double margin = shape.radius + sagitta(motion_bounds(motion, shape).acceleration, 1.0);
  PartBounds bounds{dvec3(std::numeric_limits<double>::infinity()), dvec3(-std::numeric_limits<double>::infinity())};
  for (const double time : {0.0, 1.0}) {
    const RigidFrame pose = frame_at(motion, shape, time);
    for (const dvec3& corner : shape.corners) {
      const dvec3 at = pose.to_world(corner);
      bounds.low = glm::min(bounds.low, at - margin);
      bounds.high = glm::max(bounds.high, at + margin);
    }
  }
  return bounds;
}

namespace {

// A search that takes more steps counts as contact: it is within about kPartContact of one all the time.
constexpr int kMostAdvances = 10000;
// Two points closer than this do not define a direction.
constexpr double kCoincident = 1e-9;  // m

struct PartMoment {
  double time;
  HullDistance closest;  // first: on the polytope, second: on the face
};

// Returns the time that the part needs at least to close the gaps: those of its corners to the plane of the face along
// `normal`, from part to face, `limit` being the face's own position along it.
double safe_advance(const PartSweep& sweep, const PosedPart& posed, double time, const dvec3& normal, double limit) {
  const PartVelocity velocity = velocity_at(*sweep.part.motion, *sweep.part.shape, time);
  double least = 1.0;
  for (const dvec3& corner : posed.corners()) {
    const double gap = limit - glm::dot(normal, corner), speed = glm::dot(normal, velocity.at(corner));
    least = std::min(least, closing_time(gap, speed, sweep.acceleration));
  }
  return least;
}

// Returns the first contact in the interval; a negative time when there is none.
PartMoment first_contact(const PartSweep& sweep, std::span<const dvec3> face) {
  const double radius = sweep.part.shape->radius;
  PosedPart posed = sweep.start;
  double time = sweep.part.from;
  for (int step = 0; step < kMostAdvances; ++step) {
    const HullDistance closest = hull_distance(posed.corners(), face);
    if (closest.distance <= radius + kPartContact) return {time, closest};
    if (time >= sweep.part.to) return {-1.0, closest};
    const dvec3 normal = (closest.on_second - closest.on_first) / closest.distance;
    const double limit =
        std::min({glm::dot(normal, face[0]), glm::dot(normal, face[1]), glm::dot(normal, face[2])}) - radius;
    time = std::min(sweep.part.to, time + safe_advance(sweep, posed, time, normal, limit));
    posed = PosedPart(*sweep.part.shape, frame_at(*sweep.part.motion, *sweep.part.shape, time));
  }
  return {time, hull_distance(posed.corners(), face)};
}

dvec3 face_normal(const Triangle& face) {
  const dvec3 n = glm::cross(face.b - face.a, face.c - face.a);
  const double length = glm::length(n);
  return length > 0.0 ? n / length : dvec3(0.0, 0.0, 1.0);
}

struct Contact {
  dvec3 point, normal;  // m, 1: on the face, from face to part
};

std::optional<Contact> touch_without_depth(const PartSweep& sweep, const Triangle& face, Touch& touch) {
  const std::array<dvec3, 3> corners{face.a, face.b, face.c};
  const PartMoment first = first_contact(sweep, corners);
  if (first.time < 0.0) return std::nullopt;
  const dvec3 to_part = first.closest.on_first - first.closest.on_second;
  const dvec3 normal = first.closest.distance > kCoincident ? to_part / first.closest.distance : face_normal(face);
  touch.point = glm::vec3(first.closest.on_second);
  touch.normal = glm::vec3(normal);
  touch.time = static_cast<float>(first.time);
  return Contact{first.closest.on_second, normal};
}

}  // namespace

// The positive root of gap = speed t + acceleration / 2 t^2, in the form without cancellation.
double closing_time(double gap, double speed, double acceleration) {
  const double root = std::sqrt(speed * speed + 2.0 * acceleration * gap);
  if (speed > 0.0) return 2.0 * gap / (speed + root);
  return acceleration > 0.0 ? (root - speed) / acceleration : std::numeric_limits<double>::infinity();
}

PosedPart::PosedPart(const PartShape& shape, const RigidFrame& frame) : count_(shape.corners.size()) {
  for (std::size_t i = 0; i < count_; ++i) corners_[i] = frame.to_world(shape.corners[i]);
}

PartSweep part_sweep(const MovingPart& part) {
  return {part, motion_bounds(*part.motion, *part.shape).acceleration,
          PosedPart(*part.shape, frame_at(*part.motion, *part.shape, part.from)),
          PosedPart(*part.shape, frame_at(*part.motion, *part.shape, part.end))};
}

bool part_meets(const PartSweep& sweep, const Triangle& face, Touch& touch) {
  return touch_without_depth(sweep, face, touch).has_value();
}

bool part_touch(const PartSweep& sweep, const Triangle& face, Touch& touch) {
  const std::optional<Contact> contact = touch_without_depth(sweep, face, touch);
  if (!contact) return false;
  touch.depth = static_cast<float>(
      exit_distance(sweep.end.corners(), sweep.part.shape->radius, contact->point, -contact->normal));
  return true;
}

}  // namespace trocar
