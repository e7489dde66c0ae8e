// Points that ride on an organ's surface: where a task's targets are while the tissue moves.
// Units: metres.   Tested in tests/app/session_test.cpp
#pragma once

#include <span>
#include <vector>

#include "app/task/observation.hpp"
#include "geometry/mesh_view.hpp"

namespace trocar {

// The point of the surface nearest to `place`. Load-time work: looks at every face.
SurfaceMark nearest_mark(std::uint32_t organ, const MeshView& surface, const glm::vec3& place);

// The same for many places.
std::vector<SurfaceMark> nearest_marks(std::uint32_t organ, const MeshView& surface, std::span<const glm::vec3> places);

// The same arithmetic for sessions and recordings: bit for bit.
inline glm::vec3 place_of(const SurfaceMark& mark, std::span<const glm::vec3> positions) {
  return mark.weight.x * positions[mark.vertex.x] + mark.weight.y * positions[mark.vertex.y] +
         mark.weight.z * positions[mark.vertex.z];
}

}  // namespace trocar
