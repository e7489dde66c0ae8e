// Attaches points to an organ's surface, so that a task's targets follow the tissue as it moves.
// Units: metres.   Tested in tests/sim/session_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"

namespace trocar {

// A point attached to an organ's surface: vertices of a face and their weights, which sum to 1.
struct SurfaceMark {
  std::uint32_t organ = 0;
  glm::uvec3 vertex{0};
  glm::vec3 weight{1.f, 0.f, 0.f};
};

// Returns the surface point nearest to `point`. This is work for load time: it builds a tree over every face.
SurfaceMark nearest_mark(std::uint32_t organ, const MeshView& surface, const glm::vec3& point);

// Does the same for many points.
std::vector<SurfaceMark> nearest_marks(std::uint32_t organ, const MeshView& surface, std::span<const glm::vec3> points);

// Returns the position of a mark. Sessions and recordings use the same arithmetic: bit-identical results.
inline glm::vec3 position_of(const SurfaceMark& mark, std::span<const glm::vec3> positions) {
  return mark.weight.x * positions[mark.vertex.x] + mark.weight.y * positions[mark.vertex.y] +
         mark.weight.z * positions[mark.vertex.z];
}

}  // namespace trocar
