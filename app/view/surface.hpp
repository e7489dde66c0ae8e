// Pure functions on surfaces that the view draws.
#pragma once

#include <span>

#include "geometry/mesh_view.hpp"

namespace trocar {

// Area-weighted unit normal of every vertex; (0, 0, 1) where no face gives one. normals: [vertex].
void vertex_normals(const MeshView& mesh, std::span<glm::vec3> normals);

}  // namespace trocar
