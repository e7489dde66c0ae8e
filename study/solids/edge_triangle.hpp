// Tests an edge against a triangle by the two classic methods. The point where the edge passes the triangle's plane is
// inside when the three triangles that it makes with the sides have no more area than the whole (area test), or when
// the angles of the sides seen from it sum to one full turn (angle test).
// Source: thesis 4.2 (arbitrary objects), after O'Rourke. We differ: tolerances are shares of the triangle's own size,
// the angles are signed, an edge in the triangle's plane is tested against its sides instead of being ignored, and
// touching counts. Units: metres.   Checked against exact signs (exact_edge.hpp) in
// tests/study/solids_edge_triangle_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>

#include "geometry/mesh_view.hpp"

namespace trocar::solids {

struct EdgeTriangleParams {
  // Equality tolerance: lengths as a share of the triangle's longest side, areas of its area, angles of half a turn.
  // Below 1e-13 rounding decides instead; above 1e-4 neighbouring faces count as touching.
  double tolerance = 1e-10;  // 1
};

enum class EdgeVerdict : std::uint8_t {
  Apart,
  Meets,    // passes through the triangle or touches it, border and ends included
  InPlane,  // parallel to the triangle, in its plane, and overlaps it
};

// Triangles without area meet nothing. Coordinates must be finite.
EdgeVerdict edge_triangle_by_area(const glm::dvec3& from, const glm::dvec3& to, const Triangle& triangle,
                                  const EdgeTriangleParams& params = {});
EdgeVerdict edge_triangle_by_angle(const glm::dvec3& from, const glm::dvec3& to, const Triangle& triangle,
                                   const EdgeTriangleParams& params = {});

}  // namespace trocar::solids
