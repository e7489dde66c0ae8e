// Mesh decimation: edges are collapsed in the order of the error they cause; the final error is measured on the result.
// Source: Garland, Heckbert, "Surface simplification using quadric error metrics", SIGGRAPH 1997. We add: a collapse is
// refused if it would change the topology (link condition), flip a face or make a needle; planes through the
// boundaries of holes keep them in position; vertices on non-manifold or inconsistent edges stay. Units: metres.
// Tested in tests/mesh/decimate_test.cpp
#pragma once

#include "mesh/triangle_mesh.hpp"

namespace trocar {

struct DecimateParams {
  std::size_t faces = 10000;     // 1     target; the result has this many or one fewer, more if no collapse is allowed
  double rim_weight = 10.0;      // 1     weight of a hole's boundary against the surface, > 0
  double largest_turn_deg = 80;  // deg   largest rotation of a face's normal in one collapse, < 90
};

struct Decimated {
  TriangleMesh mesh;        // welded by exact position; without the degenerate faces
  double mean_error = 0.0;  // m   mean distance between the surfaces, over samples of both
  double max_error = 0.0;   // m   largest distance: the Hausdorff distance, up to the spacing of the samples
};

// Error: InputError when 0 faces are requested, or when the mesh has no faces or only degenerate ones.
Decimated decimate(const TriangleMesh& mesh, const DecimateParams& params);

struct SurfaceDistance {
  double mean, max;  // m
};

// Symmetric distance of two surfaces, sampled at vertices, edge middles and face centres. Each has at least one face.
SurfaceDistance surface_distance(const MeshView& first, const MeshView& second);

}  // namespace trocar
