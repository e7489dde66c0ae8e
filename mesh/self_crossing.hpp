// Finds the pairs of crossing faces in one mesh: faces that share a point beyond their common corners or edge. The test
// is exact on the float coordinates, and touching counts. Corners are common when their positions are equal, even if
// their indices differ. Faces without area and faces with the same three corners are skipped; mesh_report.hpp counts
// them.
// Checked against the interval test of Moeller 1997 and brute force in tests/mesh/self_crossing_test.cpp
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "geometry/mesh_view.hpp"

namespace trocar {

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
