// Computes the distance of two shafts (capsules) in closed form: the distance of their axes (geometry/closest.hpp)
// minus the radii. Where the axes meet, or pass each other between their ends, the normal is perpendicular to both.
// Units: metres.   Checked by sampling and by moving the capsules apart in tests/study/solids_test.cpp
#pragma once

#include <cmath>
#include <glm/glm.hpp>

#include "geometry/closest.hpp"
#include "geometry/frame.hpp"

namespace trocar::solids {

// All points within `radius` of the segment; the ends may be equal.
struct Capsule {
  glm::dvec3 from, to;  // m
  double radius;        // m, >= 0
};

struct CapsuleDistance {
  double distance = 0.0;             // m    negative: depth, the shortest separating move along the normal
  glm::dvec3 normal;                 // unit, from first to second
  glm::dvec3 on_first, on_second;    // m    the surfaces' points, `distance` apart along the normal
  double along_first, along_second;  // 1    parameters on the axes, 0 .. 1
};

// Axes closer than this share of the sum of lengths and radii intersect: the direction of their difference is rounding.
constexpr double kAxesMeet = 1e-12;
// Below this squared sine the cross product of the axes loses too many digits to be the normal.
constexpr double kParallelAxes = 1e-12;

// Returns a unit vector perpendicular to both; +z when both are 0.
inline glm::dvec3 across_both(const glm::dvec3& u, const glm::dvec3& v) {
  const glm::dvec3 both = glm::cross(u, v);
  if (glm::dot(both, both) > 0.0) return glm::normalize(both);
  const glm::dvec3 side = any_perpendicular(glm::dot(u, u) >= glm::dot(v, v) ? u : v);
  return glm::dot(side, side) > 0.0 ? glm::normalize(side) : glm::dvec3(0, 0, 1);
}

// True where both closest points lie between the ends of axes that are not parallel. Their difference is then
// perpendicular to both axes, and the cross product has its direction with far less rounding where they almost meet.
inline bool pass_each_other(const closest::Segment& s, const closest::Segment& t, const closest::SegmentPair& pair) {
  const auto between = [](double share) { return share > 0.0 && share < 1.0; };
  const glm::dvec3 both = glm::cross(s.d, t.d);
  return between(pair.u) && between(pair.v) &&
         glm::dot(both, both) > kParallelAxes * s.squared_length * t.squared_length;
}

// Returns the distance of the surfaces, m, negative where the capsules overlap. Allocates nothing.
inline CapsuleDistance capsule_distance(const Capsule& first, const Capsule& second) {
  const closest::Segment s = closest::segment(first.from, first.to), t = closest::segment(second.from, second.to);
  const closest::SegmentPair pair = closest::closest_segments(s, t);
  const glm::dvec3 on_s = s.p + pair.u * s.d, on_t = t.p + pair.v * t.d, gap = on_t - on_s;
  const double apart = glm::length(gap);
  const double size = glm::length(s.d) + glm::length(t.d) + first.radius + second.radius;
  const bool meet = apart <= kAxesMeet * size;
  glm::dvec3 normal = meet || pass_each_other(s, t, pair) ? across_both(s.d, t.d) : gap / apart;
  if (glm::dot(normal, gap) < 0.0) normal = -normal;
  return {(meet ? 0.0 : apart) - first.radius - second.radius,
          normal,
          on_s + first.radius * normal,
          on_t - second.radius * normal,
          pair.u,
          pair.v};
}

}  // namespace trocar::solids
