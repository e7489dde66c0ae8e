// Decimates a mesh by VTK's quadric filter, then checks the result: a defect that the filter makes is repaired, or the
// mesh is refused. Source: Garland, Heckbert, "Surface simplification using quadric error metrics", SIGGRAPH 1997, as
// vtkQuadricDecimation of VTK 9. The filter may close a slit or pinch a thin part; we remove the folded faces that it
// leaves there. The final error is measured on the result. Units: metres.   Tested in tests/mesh/organ_maker_test.cpp
#pragma once

#include "mesh/mesh_report.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar {

struct DecimateParams {
  std::size_t faces = 10000;  // 1   target; the result has at most this many
};

struct Decimated {
  TriangleMesh mesh;        // welded by exact position; without unused vertices and faces that repeat a corner
  MeshReport health;        // of `mesh`
  double mean_error = 0.0;  // m   mean distance between the surfaces, over samples of both
  double max_error = 0.0;   // m   largest distance: the Hausdorff distance, up to the spacing of the samples
};

// Decimates a mesh. A manifold, consistently oriented surface stays one, with the same components, handles and holes.
// Throws InputError when 0 faces are requested, when the mesh has no faces or only degenerate ones, or when the surface
// would lose one of these properties.
Decimated decimate(const TriangleMesh& mesh, const DecimateParams& params);

struct SurfaceDistance {
  double mean, max;  // m
};

// Returns the symmetric distance of two surfaces, sampled at vertices, edge middles and face centres. Each has at least
// one face.
SurfaceDistance surface_distance(const MeshView& first, const MeshView& second);

}  // namespace trocar
