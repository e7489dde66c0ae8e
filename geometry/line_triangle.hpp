// Computes the point where a straight line meets a triangle, in double.
// Source: the signed volumes of the line and the triangle's sides, after Segura and Feito, "Algorithms to test
// ray-triangle intersection", WSCG 2001. For a line in the triangle's plane, or a triangle without area, closest points
// decide instead.   Units: metres.   Checked against closest points in tests/geometry/line_triangle_test.cpp
#pragma once

#include <optional>

#include "geometry/mesh_view.hpp"

namespace trocar {

// Returns the smallest t in [0, most] at which origin + t * direction lies on the closed triangle. `most` may be
// infinite.
// For a line in the triangle's plane the answer is the first common point.
std::optional<double> line_meets_triangle(const glm::dvec3& origin, const glm::dvec3& direction, double most,
                                          const Triangle& face);

}  // namespace trocar
