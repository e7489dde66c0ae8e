// Repairs a surface so that tissue can fill it: joins seams, drops faces that are degenerate, repeated or loose, makes
// the orientation consistent and outward, replaces faces without area, and closes holes. Never guesses: where faces
// would remain that cross, or edges with more than two faces, it refuses and says where.
// Units: metres.   Tested on sound organs that were damaged on purpose, in tests/mesh/mesh_report_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "mesh/mesh_report.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar {

struct RepairParams {
  double join_distance = 0.0;          // m  open edges whose ends are closer are joined; 0: only equal positions, >= 0
  double longest_boundary = 0.1;       // m  a hole with a longer boundary is not closed, >= 0
  std::size_t most_hole_edges = 1000;  //    nor one with more edges: work grows with the cube
};

struct RepairCounts {
  std::size_t joined_vertices = 0;  // at equal positions or closer than the join distance
  std::size_t dropped_faces = 0;    // used a vertex twice, or had the corners of an earlier face
  std::size_t loose_faces = 0;      // in pieces of fewer than four faces, which cannot enclose anything; dropped
  std::size_t turned_faces = 0;     // had the other orientation
  std::size_t replaced_faces = 0;   // had no area
  std::size_t closed_holes = 0;
  std::size_t new_faces = 0;        // in the holes
  std::size_t unused_vertices = 0;  // without faces; dropped
  double farthest = 0.0;            // m  largest distance of the new surface from the old one, at sampled points
};

struct Repaired {
  TriangleMesh mesh;
  RepairCounts counts;
  MeshReport report;  // of the result; sound
};

// Repairs the mesh. Remaining faces and vertices keep their order; new faces follow. A sound mesh without
// seams and unused vertices is returned unchanged. Throws InputError with one sentence when the result would not be
// sound.
Repaired repair(const TriangleMesh& mesh, const RepairParams& params = {});

// Triangulates the boundary of a hole in a surface: of all triangulations without new vertices, the one of least area.
// Least area closes a plane hole exactly, whatever its outline, and a curved one without folds in most cases. Faces
// without area are used only where the boundary leaves no other choice; between triangulations of equal area the
// shorter sides decide. Source: Barequet and Sharir, "Filling gaps in the boundary of a polyhedron", Computer Aided
// Geometric Design 12, 1995 (dynamic programming over the boundary). Work and memory grow with the cube and the square
// of the number of corners.

// Returns whether the surface already has an edge between two corners of the boundary, which a new face must not use.
using EdgeTaken = std::function<bool(std::uint32_t, std::uint32_t)>;

// `corners`: [corner] m, at least 3, in the order in which the new faces run along the boundary. Returns corners.size()
// - 2 faces of indices into `corners`; none when every triangulation uses an edge that is taken.
std::vector<glm::uvec3> fill_hole(std::span<const glm::dvec3> corners, const EdgeTaken& taken);

// Returns the cost of a triangle, m^2, of which fill_hole() makes the sum the least.
double fill_cost(const glm::dvec3& a, const glm::dvec3& b, const glm::dvec3& c);

}  // namespace trocar
