// Tests an edge against a triangle, exactly on float coordinates. The result says how they meet, so that a count of
// crossings can discard the degenerate cases.
// Source: O'Rourke, "Computational geometry in C", 1998, 7.5 (segment-triangle classification). We differ: every sign
// is exact (mesh/exact_sign.hpp), and triangles without area are handled as segments. Units: none;
// coordinates finite.   Checked against contact_of of mesh/self_crossing.hpp and integer cases in
// tests/study/solids_edge_triangle_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>

namespace trocar::solids {

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

EdgeContact exact_edge_contact(const glm::vec3& from, const glm::vec3& to, const FloatTriangle& triangle);

// Returns whether the two faces share a point, by tests of the edges of each against the other.
bool faces_cross_exactly(const glm::vec3 (&first)[3], const glm::vec3 (&second)[3]);

// Does the point lie on the triangle, border included?
bool exactly_on(const glm::vec3& point, const FloatTriangle& triangle);

}  // namespace trocar::solids
