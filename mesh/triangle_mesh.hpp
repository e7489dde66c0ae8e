// Defines the indexed triangle mesh: every organ is loaded into, generated as and saved from this form.
// Units: metres. Faces keep the file's order, degenerate ones included; loading never drops or reorders a face.
// Tested in tests/mesh/mesh_io_test.cpp and tests/mesh/mesh_report_test.cpp
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

  MeshView view() const { return {positions, faces}; }  // valid until an array changes its size
};

// Joins vertices at exactly the same position. STL files and seams of other formats need this. Positions are compared
// as numbers (-0 equals 0), without tolerance.
struct Weld {
  std::vector<std::uint32_t> vertex_of;  // [point] index of its vertex, in order of first appearance
  std::vector<std::uint32_t> point_of;   // [vertex] the first point at this position
};

Weld weld(std::span<const glm::dvec3> points);  // [point] of any unit
Weld weld(std::span<const glm::vec3> points);   // [point]

// Returns the faces, [face], with each corner replaced by the first vertex at its position. `positions`: [vertex] m.
std::vector<glm::uvec3> welded_faces(std::span<const glm::vec3> positions, std::span<const glm::uvec3> faces);
std::vector<glm::uvec3> welded_faces(const Weld& welding, std::span<const glm::uvec3> faces);

}  // namespace trocar
