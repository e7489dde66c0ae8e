// Fewer faces, same shape: edges are collapsed in the order of the error they cause, and the error that came of it is
// measured on the result.
// Source: Garland, Heckbert, "Surface simplification using quadric error metrics", SIGGRAPH 1997. We add: a collapse
// that would change the topology (link condition), turn a face over or make a needle is not made; rims of holes are
// kept in place by planes through them; vertices on non-manifold or inconsistent edges stay. Units: metres.   Tested in
// tests/mesh/decimate_test.cpp
#pragma once

#include "mesh/triangle_mesh.hpp"

namespace trocar {

struct DecimateParams {
  std::size_t faces = 10000;     // 1     wanted; the result has this many or one fewer, more when nothing else may go
  double rim_weight = 10.0;      // 1     of a hole's rim against the surface, > 0
  double largest_turn_deg = 80;  // deg   a face's normal may turn by in one collapse, < 90
};

struct Decimated {
  TriangleMesh mesh;        // welded by exact position; without the degenerate faces
  double mean_error = 0.0;  // m   between the surfaces, over samples of both
  double max_error = 0.0;   // m   the same, largest: the Hausdorff distance to within the distance of the samples
};

// Error: InputError when no faces are asked for or the mesh has none.
Decimated decimate(const TriangleMesh& mesh, const DecimateParams& params);

struct SurfaceDistance {
  double mean, max;  // m
};

// Both ways between two surfaces, sampled at vertices, edge middles and face centres. Each has at least one face.
SurfaceDistance surface_distance(const MeshView& first, const MeshView& second);

}  // namespace trocar
