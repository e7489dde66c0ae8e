// Decides exactly on which side of a line or plane a point lies, by a filter in double, then by exact sums in close
// cases.
// Based on: Shewchuk, "Adaptive precision floating-point arithmetic and fast robust geometric predicates", 1997. We
// differ: coordinates are floats, so every product of the determinant is two doubles and one exact sum decides.
// Units: none; coordinates must be finite.   Checked against rational arithmetic in tests/mesh/exact_sign_test.cpp
#pragma once

#include <glm/glm.hpp>

namespace trocar {

// Returns the sign of det(a - d, b - d, c - d): +1 when d lies below the plane of a, b, c (they are clockwise seen from
// d), 0 on the plane.
int exact_orientation(const glm::vec3& a, const glm::vec3& b, const glm::vec3& c, const glm::vec3& d);
// Returns +1 when a, b, c are counter-clockwise, -1 when they are clockwise, 0 when they are collinear.
int exact_orientation(const glm::vec2& a, const glm::vec2& b, const glm::vec2& c);
// Returns whether the three points are collinear; exact.
bool collinear(const glm::vec3& a, const glm::vec3& b, const glm::vec3& c);

}  // namespace trocar
