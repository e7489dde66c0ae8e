// Defines the indexed triangle mesh: every organ is loaded into, generated as and saved from this form.
// Units: metres. Faces keep the file's order, degenerate ones included; loading never drops or reorders a face.
#pragma once

#include <glm/glm.hpp>
#include <vector>

#include "geometry/mesh_view.hpp"

namespace trocar {

struct TriangleMesh {
  std::vector<glm::vec3> positions;  // [vertex] m
  std::vector<glm::uvec3> faces;     // [face] vertex indices, counter-clockwise seen from outside

  MeshView view() const { return {positions, faces}; }
};

}  // namespace trocar
