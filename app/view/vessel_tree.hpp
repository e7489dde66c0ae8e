// Grows blood vessels on the surface of an organ: trees that branch and never form a closed loop. Each vessel is the
// shortest path, over edges of seeded random cost, from a point of the surface to the root of its tree, or to the first
// vessel that it comes near. Radii follow Murray's law (J. Gen. Physiol. 9:835, 1926): the cubes of the radii add up
// where vessels join. Only the picture uses them.
// Units: metres.   Tested in tests/app/vessel_test.cpp
#pragma once

#include <cstdint>
#include <vector>

#include "geometry/mesh_view.hpp"

namespace trocar {

struct VesselTreeParams {
  double area_per_end = 2.5e-4;   // m^2  of the surface: one end of a vessel for each, at most 2000
  double area_per_root = 250e-4;  // m^2  of the surface: one tree for each, at most 12
  float end_radius = 0.0006f;     // m
  float most_radius = 0.0019f;    // m
  float clearance = 0.0035f;      // m    closer vessels join; at least 1.6 mean edges of the mesh
  float shortest = 0.009f;        // m    of a branch
  std::uint32_t seed = 1;
};

struct VesselPiece {
  glm::vec3 from{0.f}, to{0.f};              // m
  float from_radius = 0.f, to_radius = 0.f;  // m
};

// Returns the pieces of all trees; none for a mesh without faces. Seams are closed first.
std::vector<VesselPiece> grow_vessels(const MeshView& mesh, const VesselTreeParams& params = {});

}  // namespace trocar
