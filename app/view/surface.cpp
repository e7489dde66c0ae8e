#include "app/view/surface.hpp"

#include <algorithm>

namespace trocar {

void vertex_normals(const MeshView& mesh, std::span<glm::vec3> normals) {
  std::fill(normals.begin(), normals.end(), glm::vec3(0.f));
  for (const glm::uvec3& face : mesh.faces) {
    const glm::vec3 a = mesh.positions[face.x];
    const glm::vec3 weighted = glm::cross(mesh.positions[face.y] - a, mesh.positions[face.z] - a);
    normals[face.x] += weighted;
    normals[face.y] += weighted;
    normals[face.z] += weighted;
  }
  for (glm::vec3& normal : normals) {
    const float length = glm::length(normal);
    normal = length > 0.f ? normal / length : glm::vec3(0.f, 0.f, 1.f);
  }
}

}  // namespace trocar
