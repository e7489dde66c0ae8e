// Pure functions on surfaces that the view draws.   Tested in tests/app/view_test.cpp
#pragma once

#include <span>
#include <vector>

#include "mesh/triangle_mesh.hpp"

namespace trocar {

// Area-weighted unit normal of every vertex; (0, 0, 1) where no face gives one. normals: [vertex].
void vertex_normals(const MeshView& mesh, std::span<glm::vec3> normals);

// A mesh whose vertices are doubled along sharp edges, and a normal for each of them.
struct CreasedMesh {
  TriangleMesh mesh;
  std::vector<glm::vec3> normals;  // [vertex]
};
// Each corner's normal is the area-weighted mean over the faces at its vertex that turn from its own by less than
// `crease_deg`.
CreasedMesh with_creases(const MeshView& mesh, double crease_deg);

// Whether every edge is walked once each way: such a surface, its faces outward, can be drawn without its back.
bool encloses(const MeshView& mesh);

}  // namespace trocar
