// Tests an edge against a triangle by the two classic methods. The point where the edge passes the triangle's plane is
// inside when the three triangles that it makes with the sides have no more area than the whole (area test), or when
// the angles of the sides seen from it sum to one full turn (angle test).
// Source: Bergeret 2000, 4.2 (arbitrary objects), after O'Rourke. We differ: tolerances are shares of the triangle's
// own size, the angles are signed, an edge in the triangle's plane is tested against its sides instead of being
// ignored, and touching counts. Units: metres.   Checked against exact signs (exact_sign.hpp) in
// tests/study/solids_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <utility>
#include <vector>

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
// Does the same by the angles of the sides.
EdgeVerdict edge_triangle_by_angle(const glm::dvec3& from, const glm::dvec3& to, const Triangle& triangle,
                                   const EdgeTriangleParams& params = {});

// Finds every pair of faces of two arbitrary objects that share a point, including touching and coplanar faces, by
// brute force: tests every edge of each object against every triangle of the other. Source: Bergeret 2000, 4.2; the
// edges of one object alone are not enough, as Bergeret shows. We differ: all pairs are listed instead of stopping at
// the first. Cost: O(faces of first x faces of second). Units: metres, both in one frame. Checked against contact_of of
// mesh/exact_sign.hpp and the known counts of shared scenes in tests/study/solids_test.cpp

enum class EdgeTest { Exact, Area, Angle };

// Returns whether the two faces share a point, by tests of their edges. In the Area and Angle tests no edge meets a
// face without area.
bool faces_cross(const glm::vec3 (&first)[3], const glm::vec3 (&second)[3], EdgeTest test);

// Fills `pairs`, [pair], with (face of first, face of second), sorted. Allocates only to grow it.
void crossing_pairs(const MeshView& first, const MeshView& second, EdgeTest test,
                    std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs);

}  // namespace trocar::solids
