// Repairs a surface so that tissue can fill it: joins seams, drops faces that are degenerate, repeated or loose, makes
// the orientation consistent and outward, replaces faces without area, and closes holes. Never guesses: where faces
// would remain that cross, or edges with more than two faces, it refuses and says where.
// Units: metres.   Tested on sound organs that were damaged on purpose, in tests/mesh/repair_test.cpp
#pragma once

#include <cstddef>

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

}  // namespace trocar
