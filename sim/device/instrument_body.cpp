#include "sim/device/instrument_body.hpp"

#include <algorithm>
#include <cmath>

#include "cpu_collision/solids/convex_body.hpp"
#include "geometry/part_volume.hpp"

namespace trocar {
namespace {

// Radius of the ball of a part, relative to the radius of the shaft. A wire is a capsule: its ball is as thick as it.
double ball_radius(ToolSurface surface) {
  switch (surface) {
    case ToolSurface::Jaw:
      return 0.1;
    case ToolSurface::Steel:
      return 0.05;
    case ToolSurface::Ceramic:
      return 0.16;
    default:
      return 1.0;
  }
}

// A backend may report a face that touches only within rounding error; the box must include it.
constexpr double kRounding = 1e-6;  // m
// A shaft that leaves the body keeps this share of its length between trocar and tip.
constexpr double kShortestShaftShare = 0.5;

}  // namespace

std::vector<PartShape> part_shapes(InstrumentKind kind, double radius) {
  std::vector<PartShape> shapes;
  if (is_blunt(kind)) return shapes;
  for (const ToolPart& part : tip_parts(kind, radius)) {
    shapes.push_back(solids::part_hull(part.mesh.positions, radius * ball_radius(part.surface)));
    shapes.back().hinge_z = part.hinge_z;
    shapes.back().side = part.side;
  }
  return shapes;
}

InstrumentBody::InstrumentBody(InstrumentKind kind, double radius, const JointLimits& limits)
    : shapes_(part_shapes(kind, radius)),
      widest_(glm::radians(limits.widest_grip_deg)),
      shaft_end_(is_blunt(kind) ? radius : tip_length(kind, radius) + radius),
      motion_(std::make_unique<InstrumentMotion>()),
      steps_(1 + shapes_.size()) {}

// The tip of a pose lies a radius above the end of the instrument.
ToolPose InstrumentBody::shaft_of(const ToolPose& pose) const {
  const double back = shaft_end_ - pose.radius;
  if (back == 0.0) return pose;
  const glm::dvec3 arm = pose.pivot - pose.tip;
  const double length = glm::length(arm);
  return {pose.pivot, pose.tip + std::min(back, (1.0 - kShortestShaftShare) * length) / length * arm, pose.radius};
}

InstrumentPose InstrumentBody::posed(const InstrumentStance& stance) const {
  return {stance.pose, glm::radians(stance.roll_deg), widest_ * stance.grip};
}

void InstrumentBody::move(const InstrumentStance* before, const InstrumentStance& now, ToolMode mode, Cover cover) {
  const bool moves = before != nullptr && mode == ToolMode::Swept;
  *motion_ = moves ? instrument_motion(posed(*before), posed(now)) : instrument_at_rest(posed(now));
  volumes_.clear();
  part_of_volume_.clear();
  const ToolPose shaft = shaft_of(now.pose), shaft_before = shaft_of(before ? before->pose : now.pose);
  volumes_.push_back(frame_volume(before ? &shaft_before : nullptr, shaft, mode, cover, TouchSet::Exact));
  part_of_volume_.push_back(kShaftPart);
  steps_[kShaftPart] = volumes_.back().step;
  const ToolStep& step = steps_[kShaftPart];
  const double margin = step.radius + kRounding;
  box_ = broad::box_around(glm::min(step.pivot, glm::min(step.tip_before, step.tip_after)) - margin,
                           glm::max(step.pivot, glm::max(step.tip_before, step.tip_after)) + margin);
  for (std::uint32_t part = 1; part < parts(); ++part) add_part(part);
}

void InstrumentBody::add_part(std::uint32_t part) {
  const PartShape& shape = shapes_[part - 1];
  const int pieces = volume_count(shape, *motion_);
  for (int piece = 0; piece < pieces; ++piece) {
    volumes_.push_back(
        part_volume(shape, *motion_, static_cast<double>(piece) / pieces, static_cast<double>(piece + 1) / pieces));
    part_of_volume_.push_back(part);
  }
  steps_[part] = volumes_.back().step;
  steps_[part].part = {&shape, motion_.get()};
  const PartBounds bounds = part_bounds(shape, *motion_);
  box_ = united(box_, broad::box_around(bounds.low - kRounding, bounds.high + kRounding));
}

}  // namespace trocar
