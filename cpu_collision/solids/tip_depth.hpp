// Decides whether the tool's tip is inside the organ, and how deep. The sign comes from ray parity
// (point_in_solid.hpp), the depth from the nearest face. Brute force over all faces, or with a tree
// (cpu_collision/trees) of the same mesh.
// Units: metres, world.   Checked on spheres and against each other in tests/cpu_collision/solids_tip_depth_test.cpp
#pragma once

#include <glm/glm.hpp>

#include "cpu_collision/solids/point_in_solid.hpp"
#include "cpu_collision/trees/surface_tree.hpp"
#include "geometry/mesh_view.hpp"

namespace trocar::solids {

struct TipDepth {
  PointLocation location = PointLocation::Outside;
  double depth = 0.0;          // m    to the nearest point of the surface; negative outside
  FaceId face{0};              //      the nearest face
  glm::dvec3 on_surface{0.0};  // m    the nearest point
  glm::dvec3 out{0.0};         // unit, the shortest direction outwards when inside; 0 on a face without area
  bool by_winding = false;     //      the sign comes from the winding number: see PointAnswer
};

// Both functions compute the depth. They need a closed surface with at least one face. A tip that is not finite lies
// outside at depth -infinity. The first function does not allocate; the one with a tree does not allocate after the
// first calls.
TipDepth tip_depth(const MeshView& mesh, const SolidBox& box, const glm::dvec3& tip);
// `tree` must hold the mesh at these positions.
TipDepth tip_depth(SurfaceTree& tree, const MeshView& mesh, const SolidBox& box, const glm::dvec3& tip);

}  // namespace trocar::solids
