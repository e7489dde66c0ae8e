#include "geometry/part_volume.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/tool_camera.hpp"

namespace trocar {
namespace {

using glm::dvec3;

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

}  // namespace trocar
