// Changes the faces of a mesh at random, as TouchQuery::change_faces() allows: for property tests. Units: metres.
#pragma once

#include <algorithm>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "mesh/triangle_mesh.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar::test {

// Removes the marked faces from `mesh` and returns their numbers.
inline std::vector<FaceId> remove_marked(TriangleMesh& mesh, const std::vector<char>& marked) {
  std::vector<FaceId> removed;
  std::size_t kept = 0;
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f) {
    if (f < marked.size() && marked[f])
      removed.push_back(FaceId{f});
    else
      mesh.faces[kept++] = mesh.faces[f];
  }
  mesh.faces.resize(kept);
  return removed;
}

// Marks the faces with a corner within `radius` of `centre`.
inline std::vector<char> faces_within(const TriangleMesh& mesh, const glm::vec3& centre, float radius) {
  std::vector<char> marked(mesh.faces.size(), 0);
  for (std::size_t f = 0; f < mesh.faces.size(); ++f)
    for (int k = 0; k < 3; ++k) marked[f] |= glm::distance(mesh.positions[mesh.faces[f][k]], centre) <= radius;
  return marked;
}

// Replaces a crater of faces by faces between its rim and new vertices below it, as a burn does.
inline std::vector<FaceId> burn_crater(Dice& dice, TriangleMesh& mesh, const glm::vec3& centre, float radius) {
  const std::vector<char> marked = faces_within(mesh, centre, radius);
  std::vector<std::uint32_t> rim;
  for (std::size_t f = 0; f < mesh.faces.size(); ++f)
    if (marked[f]) rim.insert(rim.end(), {mesh.faces[f].x, mesh.faces[f].y, mesh.faces[f].z});
  std::vector<FaceId> removed = remove_marked(mesh, marked);
  if (rim.empty()) return removed;
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  const int walls = 1 + dice.pick(6);
  for (int k = 0; k < walls; ++k) mesh.positions.push_back(centre + glm::vec3(dice.in_cube(double(radius))));
  for (int k = 0; k < 4 * walls; ++k) {
    const auto old = rim[static_cast<std::size_t>(dice.pick(static_cast<int>(rim.size())))];
    const auto one = first + static_cast<std::uint32_t>(dice.pick(walls));
    const auto two = dice.pick(3) ? rim[static_cast<std::size_t>(dice.pick(static_cast<int>(rim.size())))]
                                  : first + static_cast<std::uint32_t>(dice.pick(walls));
    mesh.faces.push_back({old, one, two});
  }
  return removed;
}

// Splits faces into three at a new vertex, as the refinement of the skin does.
inline std::vector<FaceId> split_faces(Dice& dice, TriangleMesh& mesh, int count) {
  std::vector<char> marked(mesh.faces.size(), 0);
  std::vector<glm::uvec3> added;
  for (int k = 0; k < count && !mesh.faces.empty(); ++k) {
    const auto f = static_cast<std::size_t>(dice.pick(static_cast<int>(mesh.faces.size())));
    if (marked[f]) continue;
    marked[f] = 1;
    const glm::uvec3 face = mesh.faces[f];
    const auto middle = static_cast<std::uint32_t>(mesh.positions.size());
    mesh.positions.push_back((mesh.positions[face.x] + mesh.positions[face.y] + mesh.positions[face.z]) / 3.f);
    added.insert(added.end(), {{face.x, face.y, middle}, {face.y, face.z, middle}, {face.z, face.x, middle}});
  }
  std::vector<FaceId> removed = remove_marked(mesh, marked);
  mesh.faces.insert(mesh.faces.end(), added.begin(), added.end());
  return removed;
}

// Adds faces between vertices that may lie far apart, faces that use a vertex twice, copies of faces, and vertices
// without a face.
inline void add_strange_faces(Dice& dice, TriangleMesh& mesh) {
  const int vertices = dice.pick(4);
  for (int k = 0; k < vertices; ++k) mesh.positions.push_back(glm::vec3(dice.in_cube(0.1)));
  if (mesh.positions.empty()) return;
  const auto any = [&] { return static_cast<std::uint32_t>(dice.pick(static_cast<int>(mesh.positions.size()))); };
  const int faces = dice.pick(12);
  for (int k = 0; k < faces; ++k) {
    if (dice.pick(4) == 0 && !mesh.faces.empty())
      mesh.faces.push_back(mesh.faces[static_cast<std::size_t>(dice.pick(static_cast<int>(mesh.faces.size())))]);
    else
      mesh.faces.push_back({any(), any(), any()});
  }
}

// Makes a random change, from none to the removal of all faces. Returns the removed faces.
inline std::vector<FaceId> random_change(Dice& dice, TriangleMesh& mesh) {
  const auto somewhere = [&] {
    return mesh.positions.empty()
               ? glm::vec3(0.f)
               : mesh.positions[static_cast<std::size_t>(dice.pick(static_cast<int>(mesh.positions.size())))];
  };
  switch (dice.pick(16)) {
    case 0:
      return {};
    case 1:
      return dice.pick(4) ? remove_marked(mesh, faces_within(mesh, somewhere(), 0.04f))
                          : remove_marked(mesh, std::vector<char>(mesh.faces.size(), 1));
    case 2:
    case 3:
      add_strange_faces(dice, mesh);
      return {};
    case 4:
    case 5:
      return remove_marked(mesh, faces_within(mesh, somewhere(), 0.01f));
    case 6:
    case 7:
    case 8:
      return split_faces(dice, mesh, 1 + dice.pick(10));
    default:
      return burn_crater(dice, mesh, somewhere(), float(dice.log_uniform(0.001, 0.02)));
  }
}

}  // namespace trocar::test
