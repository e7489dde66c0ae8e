// Closes an open surface whose boundary loops lie on two sides: a strip of triangles joins matching loops, caps close
// the others. For any loops, every directed edge of the surface and the new triangles together has an opposite edge.
// Strips: Fuchs, Kedem, Uselton, "Optimal surface reconstruction from planar contours", CACM 1977; we differ: the cost
// is the squared length of the rungs, and the first rung is the shortest. Caps: the triangulation of least area,
// Barequet, Sharir, "Filling gaps in the boundary of a polyhedron", CAGD 1995.
// Units: metres.   Tested in tests/deform/sculpt_loft_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/cut/boundary_loops.hpp"

namespace trocar {

// Adds triangles that join `skin` and `wall`, which have opposite directions: for each edge of either there is a
// triangle with the opposite edge.
void add_strip(std::span<const glm::vec3> positions, std::span<const std::uint32_t> skin,
               std::span<const std::uint32_t> wall, std::vector<glm::uvec3>& triangles);
// Adds triangles that close one loop.
void add_cap(std::span<const glm::vec3> positions, std::span<const std::uint32_t> loop,
             std::vector<glm::uvec3>& triangles);

// Returns the triangles that close all loops. `wall` [loop]: does it belong to the wall? A strip joins a loop of the
// skin and a loop of the wall whose mean distance is at most `reach` metres.
std::vector<glm::uvec3> close_loops(std::span<const glm::vec3> positions, const Loops& loops,
                                    const std::vector<char>& wall, float reach);

}  // namespace trocar
