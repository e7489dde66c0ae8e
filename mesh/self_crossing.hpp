// Pairs of faces of one mesh that cross: they share a point that their common corners do not explain. Decided exactly
// on the float coordinates, touching included. Corners are common when they are at the same position, whatever their
// number. Not looked at: faces without area and faces with the same three corners, which mesh_report.hpp counts.
// Checked against the interval test of Moeller 1997 and brute force in tests/mesh/self_crossing_test.cpp
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "geometry/mesh_view.hpp"

namespace trocar {

// False when the corners lie on one line to within 1/100,000 of the longest side, judged in double from the corners as
// stored: no direction of such a face means anything, and which side of it a point lies on is chance.
bool has_area(const glm::vec3& a, const glm::vec3& b, const glm::vec3& c);

enum class Contact { None, Crossing, Folded };

// Two triangles with area. Crossing: no common corner, but a common point. Folded: a common point beyond their common
// corner or edge. Triangles with the same three corners give None.
Contact contact_of(const glm::vec3 (&first)[3], const glm::vec3 (&second)[3]);

struct SelfCrossings {
  std::size_t crossing = 0;  // pairs without a common corner: two parts of the surface pass through each other
  std::size_t folded = 0;    // pairs with one or two common corners: the surface folds through its own neighbour
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  // [listed] of both, first < second, sorted
};

// Counts all, lists those with the lowest face numbers, at most `listed`.
SelfCrossings self_crossings(const MeshView& mesh, std::size_t listed = 1000);

}  // namespace trocar
