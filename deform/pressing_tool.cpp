#include "deform/pressing_tool.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "geometry/closest.hpp"
#include "geometry/hull_distance.hpp"

namespace trocar {
namespace {

using glm::dvec3;

// More than the rounding of a distance, a motion and the search for the first contact.
constexpr double kTouchMargin = 1e-6;  // m

dvec3 closest_on_segment(const dvec3& p, const dvec3& a, const dvec3& b) {
  const dvec3 d = b - a;
  const double square = glm::dot(d, d);
  return square > 0.0 ? a + glm::clamp(glm::dot(p - a, d) / square, 0.0, 1.0) * d : a;
}

ToolTissue closest_hull(const PosedPart& posed, std::span<const dvec3> tissue, double range) {
  const HullDistance found = hull_distance(posed.corners(), tissue, range);
  return {found.on_first, found.on_second, found.distance};
}

}  // namespace

PressingTool::PressingTool(const ToolStep& step)
    : step_(step), radius_(step.radius), moved_(glm::distance(step.tip_before, step.tip_after)) {
  if (!step.part.shape) return;
  sweep_ = part_sweep(step.part);
  low_ = high_ = sweep_.end.corners()[0];
  for (const dvec3& corner : sweep_.end.corners()) low_ = glm::min(low_, corner), high_ = glm::max(high_, corner);
  radius_ = step.part.shape->radius;
  moved_ = motion_bounds(*step.part.motion, *step.part.shape).speed * (step.part.to - step.part.from);
}

ToolTissue PressingTool::closest(const dvec3& point, double range) const {
  if (step_.part.shape) return closest_hull(sweep_.end, std::array{point}, range);
  const dvec3 on_axis = closest_on_segment(point, step_.pivot, step_.tip_after);
  return {on_axis, point, glm::length(on_axis - point)};
}

ToolTissue PressingTool::closest(const dvec3& from, const dvec3& to, double range) const {
  if (step_.part.shape) {
    ToolTissue found = closest_hull(sweep_.end, std::array{from, to}, range);
    const dvec3 edge = to - from;
    found.along = glm::dot(found.on_tissue - from, edge) / glm::dot(edge, edge);
    return found;
  }
  const closest::Segment axis = closest::segment(step_.pivot, step_.tip_after), edge = closest::segment(from, to);
  const closest::SegmentPair pair = closest::closest_segments(axis, edge);
  return {axis.p + pair.u * axis.d, edge.p + pair.v * edge.d, std::sqrt(pair.squared), pair.v};
}

ToolTissue PressingTool::closest(const Triangle& face, double range) const {
  if (step_.part.shape) return closest_hull(sweep_.end, std::array{face.a, face.b, face.c}, range);
  const ClosestPoints found = closest_segment_triangle(step_.pivot, step_.tip_after, face);
  return {found.on_first, found.on_second, found.distance};
}

bool PressingTool::is_beyond(const dvec3& point, double range) const {
  if (!step_.part.shape) return false;
  const dvec3 outside = glm::max(glm::max(low_ - point, point - high_), dvec3(0.0));
  return glm::dot(outside, outside) > range * range;
}

// Uses a ball around the face and the largest motion of any point of the tool.
bool PressingTool::may_touch(const Triangle& face, double range) const {
  const dvec3 centre = (face.a + face.b + face.c) / 3.0;
  const auto square = [&](const dvec3& p) { return glm::dot(p - centre, p - centre); };
  const double radius = std::sqrt(std::max({square(face.a), square(face.b), square(face.c)}));
  const double most = radius_ + range + radius + moved_;
  if (step_.part.shape) return !is_beyond(centre, most) && hulls_within(sweep_.end.corners(), std::array{centre}, most);
  const dvec3 away = closest_on_segment(centre, step_.pivot, step_.tip_after) - centre;
  return glm::dot(away, away) < most * most;
}

double PressingTool::contact_range(double reach) const { return radius_ + std::max(reach, moved_ + kTouchMargin); }

// No point of a part moves further than `moved_`. The refinement of a shaft decides by its own rounding.
bool PressingTool::may_have_touched(double distance) const {
  return !step_.part.shape || distance <= radius_ + moved_ + kTouchMargin;
}

double PressingTool::depth_behind(const Triangle& face) const {
  const dvec3 area = glm::cross(face.b - face.a, face.c - face.a);
  double lowest = 0.0;
  for (const dvec3& corner : sweep_.end.corners()) lowest = std::min(lowest, glm::dot(area, corner - face.a));
  return -lowest / std::max(glm::length(area), 1e-30);
}

bool PressingTool::touches(const Triangle& face, Touch& touch) const {
  return step_.part.shape ? part_meets(sweep_, face, touch) : refine_touch(step_, face, touch);
}

}  // namespace trocar
