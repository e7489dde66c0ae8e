// Finds every pair of faces of two arbitrary objects that share a point, including touching and coplanar faces, by
// brute force: tests every edge of each object against every triangle of the other. Source: thesis 4.2; the edges of
// one object alone are not enough, as the thesis shows. We differ: all pairs are listed instead of stopping at the
// first. Cost: O(faces of first x faces of second).
// Units: metres, both in one frame.   Checked against contact_of of mesh/self_crossing.hpp and the known counts of
// shared scenes in tests/study/solids_crossing_pairs_test.cpp
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "geometry/mesh_view.hpp"

namespace trocar::solids {

enum class EdgeTest { Exact, Area, Angle };

// Returns whether the two faces share a point, by tests of their edges. In the Area and Angle tests no edge meets a
// face without area.
bool faces_cross(const glm::vec3 (&first)[3], const glm::vec3 (&second)[3], EdgeTest test);

// Fills `pairs` with (face of first, face of second), sorted. Allocates only to grow it.
void crossing_pairs(const MeshView& first, const MeshView& second, EdgeTest test,
                    std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs);

}  // namespace trocar::solids
