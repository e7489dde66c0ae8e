// Triangulates the boundary of a hole in a surface: of all triangulations without new vertices, the one of least area.
// Least area closes a plane hole exactly, whatever its outline, and a curved one without folds in most cases. Faces
// without area are used only where the boundary leaves no other choice; between triangulations of equal area the
// shorter sides decide. Source: Barequet and Sharir, "Filling gaps in the boundary of a polyhedron", Computer Aided
// Geometric Design 12, 1995 (dynamic programming over the boundary). Work and memory grow with the cube and the square
// of the number of corners. Units: metres.   Tested against all triangulations of small boundaries in
// tests/mesh/hole_fill_test.cpp
#pragma once

#include <cstdint>
#include <functional>
#include <glm/glm.hpp>
#include <span>
#include <vector>

namespace trocar {

// Returns whether the surface already has an edge between two corners of the boundary, which a new face must not use.
using EdgeTaken = std::function<bool(std::uint32_t, std::uint32_t)>;

// `corners`: at least 3, in the order in which the new faces run along the boundary. Returns corners.size() - 2 faces
// of indices into `corners`; none when every triangulation uses an edge that is taken.
std::vector<glm::uvec3> fill_hole(std::span<const glm::dvec3> corners, const EdgeTaken& taken);

// Returns the cost of a triangle, m^2, of which fill_hole() makes the sum the least.
double fill_cost(const glm::dvec3& a, const glm::dvec3& b, const glm::dvec3& c);

}  // namespace trocar
