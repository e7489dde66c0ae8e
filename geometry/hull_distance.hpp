// Computes the closest points of two convex hulls of few points, in double, by the algorithm of Gilbert, Johnson and
// Keerthi (IEEE J. Robotics Autom. 4, 1988). The closest point of a simplex follows Ericson, "Real-Time Collision
// Detection", 2005, 5.1. We differ: the support points are found by a scan, because a part has few corners, and the
// result has a lower bound of the distance, which proves it to kDistanceError.
// Units: metres.   Checked against the reference of triangle pairs in tests/cpu_collision/hull_distance_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <limits>
#include <span>

namespace trocar {

// The returned distance is at most this much too large, for hulls within 1 m of the first point of `first`.
constexpr double kDistanceError = 1e-9;  // m

struct HullDistance {
  glm::dvec3 on_first{0.0}, on_second{0.0};  // m   closest points; equal within kDistanceError when the hulls meet
  double distance = 0.0;                     // m   0 when the hulls share a point
};

// Both spans have at least one point; the points may coincide or lie in one line or plane. If the hulls are further
// apart than `range`, the search ends as soon as that is certain: `distance` is then only a lower bound above `range`,
// and the points are not the closest ones.
HullDistance hull_distance(std::span<const glm::dvec3> first, std::span<const glm::dvec3> second,
                           double range = std::numeric_limits<double>::infinity());

// Returns hull_distance(first, second).distance < range; cheaper, unless the two are almost equal.
bool hulls_within(std::span<const glm::dvec3> first, std::span<const glm::dvec3> second, double range);

// Returns how far `point` must move along `direction` (unit) until it has left, for good, the points within `radius` of
// the hull; 0 when this line never enters them ahead of the point, m.
double exit_distance(std::span<const glm::dvec3> hull, double radius, const glm::dvec3& point,
                     const glm::dvec3& direction);

}  // namespace trocar
