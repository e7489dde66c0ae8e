#include "app/view/surface.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

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

CreasedMesh with_creases(const MeshView& mesh, double crease_deg) {
  std::vector<glm::vec3> weighted(mesh.faces.size());  // [face] normal times twice its area
  std::vector<std::vector<std::uint32_t>> around(mesh.positions.size());
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f) {
    const glm::uvec3& face = mesh.faces[f];
    const glm::vec3 a = mesh.positions[face.x];
    weighted[f] = glm::cross(mesh.positions[face.y] - a, mesh.positions[face.z] - a);
    for (int corner = 0; corner < 3; ++corner) around[face[corner]].push_back(f);
  }
  const auto direction = [](const glm::vec3& v) {
    return glm::length(v) > 0.f ? glm::normalize(v) : glm::vec3(0, 0, 1);
  };
  const float smooth = static_cast<float>(std::cos(glm::radians(crease_deg)));
  CreasedMesh out;
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f) {
    const auto first = static_cast<std::uint32_t>(out.mesh.positions.size());
    for (int corner = 0; corner < 3; ++corner) {
      glm::vec3 sum(0.f);
      for (const std::uint32_t other : around[mesh.faces[f][corner]])
        if (other == f || glm::dot(direction(weighted[other]), direction(weighted[f])) > smooth) sum += weighted[other];
      out.mesh.positions.push_back(mesh.positions[mesh.faces[f][corner]]);
      out.normals.push_back(direction(sum));
    }
    out.mesh.faces.emplace_back(first, first + 1, first + 2);
  }
  return out;
}

// Every side u - v of a face must occur once, and so must v - u. The sides are sorted by their first vertex.
bool encloses(const MeshView& mesh) {
  std::vector<std::uint32_t> first(mesh.positions.size() + 1, 0), ends(3 * mesh.faces.size());
  double volume = 0.0;
  for (const glm::uvec3& face : mesh.faces) {
    const Triangle t = triangle_of(mesh.positions, face);
    volume += glm::dot(t.a, glm::cross(t.b, t.c));
    for (int corner = 0; corner < 3; ++corner) ++first[face[corner]];
  }
  std::uint32_t before = 0;
  for (std::uint32_t& count : first) before += std::exchange(count, before);
  for (const glm::uvec3& face : mesh.faces)
    for (int corner = 0; corner < 3; ++corner) ends[first[face[corner]]++] = face[(corner + 1) % 3];
  // Now first[u] is the end of the sides from u.
  const auto count_from = [&](std::uint32_t u, std::uint32_t v) {
    return std::count(ends.begin() + (u > 0 ? first[u - 1] : 0), ends.begin() + first[u], v);
  };
  for (const glm::uvec3& face : mesh.faces)
    for (int corner = 0; corner < 3; ++corner) {
      const std::uint32_t u = face[corner], v = face[(corner + 1) % 3];
      if (count_from(u, v) != 1 || count_from(v, u) != 1) return false;
    }
  return volume > 0.0;
}

}  // namespace trocar
