// Decides exactly on which side of a plane a point lies, and how points and triangles in one plane meet, by a filter in
// double, then by exact sums in close cases.
// Based on: Shewchuk, "Adaptive precision floating-point arithmetic and fast robust geometric predicates", 1997. We
// differ: coordinates are floats, so every product of the determinant is two doubles and one exact sum decides.
// Units: none; coordinates must be finite.   Checked against rational arithmetic in tests/mesh/exact_sign_test.cpp
#pragma once

#include <glm/glm.hpp>

namespace trocar {

// Returns the sign of det(a - d, b - d, c - d): +1 when d lies below the plane of a, b, c (they are clockwise seen from
// d), 0 on the plane.
int exact_orientation(const glm::vec3& a, const glm::vec3& b, const glm::vec3& c, const glm::vec3& d);

// Returns the projection along a coordinate axis. geometry/planar decides the sides of projected lines.
inline glm::dvec2 without(const glm::vec3& p, int axis) { return {p[(axis + 1) % 3], p[(axis + 2) % 3]}; }
// Returns a coordinate axis along which a, b, c do not project onto one line; -1 when they are collinear.
int projection_axis(const glm::vec3& a, const glm::vec3& b, const glm::vec3& c);
// Returns whether p lies in the triangle, border included. The triangle has area.
bool inside_triangle(const glm::dvec2& p, const glm::dvec2& a, const glm::dvec2& b, const glm::dvec2& c);
// Returns whether the segment meets the triangle. Both lie in one plane; along `axis` the triangle keeps its area.
bool meets_in_plane(const glm::vec3& p, const glm::vec3& q, const glm::vec3 (&triangle)[3], int axis);

}  // namespace trocar
