// Joins vertices at exactly the same position. STL files and seams of other formats need this.
// Positions are compared as numbers (-0 equals 0), without tolerance.   Tested in tests/mesh/mesh_io_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

namespace trocar {

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
