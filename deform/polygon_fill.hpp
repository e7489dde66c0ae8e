// Triangulates closed loops in the plane by ear clipping. Outer loops run counter-clockwise, holes clockwise. For any
// loops, also crossing or degenerate ones, every directed edge of a loop belongs to one triangle and every other edge
// to two triangles in opposite directions: a surface closed by these triangles has no gap. The ears are those of
// mesh/ear_clip.hpp; holes are joined by bridges.
// Tested in tests/deform/polygon_fill_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/cut/boundary_loops.hpp"

namespace trocar {

// `points`: [entry of loops.vertex]. `shared`: [entry] triangles whose corners are all shared are avoided; empty: none
// is. Returns triangles of vertices (values of loops.vertex).
std::vector<glm::uvec3> fill_loops(const Loops& loops, std::span<const glm::dvec2> points,
                                   std::span<const char> shared = {});

}  // namespace trocar
