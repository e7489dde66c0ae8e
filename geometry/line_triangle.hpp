// Where a straight line meets a triangle, in double.
// Source: the signed volumes of the line against the triangle's sides, after Segura and Feito, "Algorithms to test
// ray-triangle intersection", WSCG 2001. A line within the triangle's plane, or a triangle without area, is decided by
// their closest points instead.   Units: metres.   Checked against those in tests/geometry/line_triangle_test.cpp
#pragma once

#include <optional>

#include "geometry/mesh_view.hpp"

namespace trocar {

// The smallest t in [0, most] at which origin + t * direction lies on the closed triangle. `most` may be infinite.
// Within a triangle's plane the answer is the first common point.
std::optional<double> line_meets_triangle(const glm::dvec3& origin, const glm::dvec3& direction, double most,
                                          const Triangle& face);

}  // namespace trocar
