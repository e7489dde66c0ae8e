// Numbers the faces of a mesh after a change of faces, as TouchQuery::change_faces() defines it: the remaining faces
// keep their order and are numbered without gaps.   Tested in tests/cpu_collision/change_faces_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"

namespace trocar {

constexpr std::uint32_t kRemovedFace = 0xffff'ffffu;

// Fills `after`: [face before the change] its number after it, kRemovedFace for a removed one. `removed`: ascending.
inline void renumber(std::span<const FaceId> removed, std::size_t faces, std::vector<std::uint32_t>& after) {
  after.resize(faces);
  std::uint32_t face = 0, next = 0;
  for (const FaceId gone : removed) {
    while (face < index(gone)) after[face++] = next++;
    after[face++] = kRemovedFace;
  }
  while (face < faces) after[face++] = next++;
}

}  // namespace trocar
