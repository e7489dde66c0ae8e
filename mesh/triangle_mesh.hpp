// Defines the indexed triangle mesh: every organ is loaded into, generated as and saved from this form.
// Units: metres. Faces keep the file's order, degenerate ones included; loading never drops or reorders a face.
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"

namespace trocar {

struct TriangleMesh {
  std::vector<glm::vec3> positions;  // [vertex] m
  std::vector<glm::uvec3> faces;     // [face] vertex indices, counter-clockwise seen from outside

  MeshView view() const { return {positions, faces}; }
};

// Joins vertices at exactly the same position. STL files and seams of other formats need this. Positions are compared
// as numbers (-0 equals 0), without tolerance.
struct Weld {
  std::vector<std::uint32_t> vertex_of;  // [point] index of its vertex, in order of first appearance
  std::vector<std::uint32_t> point_of;   // [vertex] the first point at this position
};

Weld weld(std::span<const glm::dvec3> points);
Weld weld(std::span<const glm::vec3> points);

// Returns the faces with each corner replaced by the first vertex at its position.
std::vector<glm::uvec3> welded_faces(std::span<const glm::vec3> positions, std::span<const glm::uvec3> faces);
std::vector<glm::uvec3> welded_faces(const Weld& welding, std::span<const glm::uvec3> faces);

}  // namespace trocar
