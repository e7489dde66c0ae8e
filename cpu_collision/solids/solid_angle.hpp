// Computes the solid angle of a triangle seen from a point, and the winding number of a surface: how many times it
// surrounds the point. The winding number is one inside a closed surface and zero outside; an open or damaged surface
// gives numbers between.
// Source: thesis 4.3; formula of Van Oosterom and Strackee, "The solid angle of a plane triangle", 1983; winding number
// of dirty meshes: Jacobson, Kavan, Sorkine, 2013. We differ: signed throughout, so that parts turned inward subtract.
// Units: metres, steradians.   Checked in tests/cpu_collision/solids_point_in_solid_test.cpp
#pragma once

#include <cmath>
#include <glm/glm.hpp>
#include <numbers>

#include "geometry/elementary.hpp"
#include "geometry/mesh_view.hpp"

namespace trocar::solids {

// Returns the solid angle, sr, in [-2 pi, 2 pi]: positive when the triangle turns clockwise seen from the point, as a
// surface does from inside. For a point on the triangle, and for a triangle without area: 0 or one of the two extremes.
inline double solid_angle(const glm::dvec3& point, const Triangle& face) {
  const glm::dvec3 a = face.a - point, b = face.b - point, c = face.c - point;
  const double la = glm::length(a), lb = glm::length(b), lc = glm::length(c);
  const double triple = glm::dot(a, glm::cross(b, c));
  const double under = la * lb * lc + glm::dot(a, b) * lc + glm::dot(b, c) * la + glm::dot(c, a) * lb;
  return 2.0 * elementary::atan2(triple, under);
}

inline double winding_number(const MeshView& mesh, const glm::dvec3& point) {
  double sum = 0.0;
  for (const glm::uvec3& face : mesh.faces) sum += solid_angle(point, triangle_of(mesh.positions, face));
  return sum / (4.0 * std::numbers::pi);
}

}  // namespace trocar::solids
