// Defines the organ's mesh as every query receives it: vertex positions and triangles, which the caller owns.
// Units: metres, world frame.   Tested through its users: tests/geometry/refine_test.cpp,
// tests/mesh/mesh_report_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>

namespace trocar {

enum class FaceId : std::uint32_t {};

constexpr std::uint32_t index(FaceId face) { return static_cast<std::uint32_t>(face); }  // its number

struct MeshView {
  std::span<const glm::vec3> positions;  // [vertex] m
  std::span<const glm::uvec3> faces;     // [face] vertex indices, counter-clockwise seen from outside
};

// Corners of one face in double, for exact tests.
struct Triangle {
  glm::dvec3 a, b, c;  // m
};

// `positions`: [vertex] m, of which `face` has three indices.
inline Triangle triangle_of(std::span<const glm::vec3> positions, const glm::uvec3& face) {
  return {glm::dvec3(positions[face.x]), glm::dvec3(positions[face.y]), glm::dvec3(positions[face.z])};
}

}  // namespace trocar
