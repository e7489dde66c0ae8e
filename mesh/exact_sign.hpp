// Decides exactly on which side of a plane a point lies, and how points and triangles in one plane meet, by a filter in
// double, then by exact sums in close cases.
// Based on: Shewchuk, "Adaptive precision floating-point arithmetic and fast robust geometric predicates", 1997. We
// differ: coordinates are floats, so every product of the determinant is two doubles and one exact sum decides.
// Units: none; coordinates must be finite.   Checked against rational arithmetic in tests/mesh/mesh_report_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <utility>
#include <vector>

#include "geometry/mesh_view.hpp"

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

namespace trocar::solids {

// Tests an edge against a triangle, exactly on float coordinates. The result says how they meet, so that a count of
// crossings can discard the degenerate cases. Source: O'Rourke, "Computational geometry in C", 1998, 7.5
// (segment-triangle classification). We differ: every sign is exact, and triangles without area are handled as
// segments. Checked against contact_of() and integer cases in tests/study.
struct FloatTriangle {
  glm::vec3 a, b, c;  // m
};

enum class EdgeContact : std::uint8_t {
  Apart,
  Crosses,  // through the interior, the ends strictly on opposite sides
  EndOn,    // an end lies on the triangle, border included, and the edge does not lie in its plane
  Border,   // the ends on opposite sides, through a side or corner
  InPlane,  // lies in the triangle's plane and meets it; also when it meets a triangle without area
};

// Returns how the closed edge from -> to meets the closed triangle.
EdgeContact exact_edge_contact(const glm::vec3& from, const glm::vec3& to, const FloatTriangle& triangle);

// Returns whether the two faces share a point, by tests of the edges of each against the other.
bool faces_cross_exactly(const glm::vec3 (&first)[3], const glm::vec3 (&second)[3]);

// Does the point lie on the triangle, border included?
bool exactly_on(const glm::vec3& point, const FloatTriangle& triangle);

}  // namespace trocar::solids

namespace trocar {

// Finds the pairs of crossing faces in one mesh: faces that share a point beyond their common corners or edge. The test
// is exact on the float coordinates, and touching counts. Corners are common when their positions are equal, even if
// their indices differ. Faces without area and faces with the same three corners are skipped; mesh_report.hpp counts
// them.

// Returns false when the corners are collinear to within 1/100,000 of the longest side, computed in double from the
// stored corners: such a face has no meaningful normal, and the side on which a point lies is random.
bool has_area(const glm::vec3& a, const glm::vec3& b, const glm::vec3& c);

enum class Contact { None, Crossing, Folded };

// Compares two triangles with area. Crossing: no common corner, but a common point. Folded: a common point beyond their
// common corner or edge. Triangles with the same three corners give None.
Contact contact_of(const glm::vec3 (&first)[3], const glm::vec3 (&second)[3]);

struct SelfCrossings {
  std::size_t crossing = 0;  // pairs without a common corner: two parts of the surface pass through each other
  std::size_t folded = 0;    // pairs with one or two common corners: the surface folds through its own neighbour
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  // [listed] of both kinds, first < second, sorted
};

// Finds the crossing pairs: counts all, and lists at most `listed`, those with the lowest face indices.
SelfCrossings self_crossings(const MeshView& mesh, std::size_t listed = 1000);

}  // namespace trocar
