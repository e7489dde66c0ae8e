// Computes normals and orientation of surfaces for drawing, by pure functions.   Tested in tests/app/view_test.cpp
#pragma once

#include <span>
#include <vector>

#include "mesh/triangle_mesh.hpp"

namespace trocar {

// Computes the area-weighted unit normal of every vertex; (0, 0, 1) where it is undefined. normals: [vertex].
void vertex_normals(const MeshView& mesh, std::span<glm::vec3> normals);

// A mesh with separate vertices for each face corner, and a normal for each of them.
struct CreasedMesh {
  TriangleMesh mesh;
  std::vector<glm::vec3> normals;  // [vertex]
};
// Returns the mesh with a normal for each corner: each corner's normal is the area-weighted mean over those faces at
// its vertex whose normals differ from its own by less than `crease_deg`.
CreasedMesh with_creases(const MeshView& mesh, double crease_deg);

// Returns whether the surface is closed, manifold, consistently oriented and outward: it can be drawn with back-face
// culling.
bool encloses(const MeshView& mesh);

}  // namespace trocar
