// Keeps a list of faces to which faces are added and from which faces are removed. Each face keeps its id, and new
// faces come last. Tested in tests/deform/sculpt_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"

namespace trocar {

// Skin: the organ's own surface and the remaining parts of cut faces. Wall: sides of voxels between tissue and burnt.
// Strip: connects the two.
enum class FaceKind : std::uint8_t { Skin, Wall, Strip };

struct LiveFaces {
  std::vector<glm::uvec3> corners;  // [slot] vertices, counter-clockwise seen from outside
  std::vector<FaceId> id;           // [slot] ascending
  std::vector<FaceKind> kind;       // [slot]
  std::vector<std::uint32_t> side;  // [slot] of wall: 6 * tissue voxel + side
  std::vector<char> removed;        // [slot] removed by the next settle()
  std::uint32_t next_id = 0;

  std::size_t size() const { return corners.size(); }
  void add(FaceKind face_kind, const glm::uvec3& face, std::uint32_t wall_side = 0);
};

LiveFaces make_live_faces(std::span<const glm::uvec3> faces);

// The changes made by settle(). The arrays keep their memory.
struct FaceChanges {
  std::vector<FaceId> removed;  // ascending
  FaceId first_new{0};          // new faces: first_new, first_new + 1, ...
  std::uint32_t new_faces = 0;
};

// Numbers the faces added since the last call and drops the removed ones. A face both added and removed gets no id.
void settle(LiveFaces& faces, FaceChanges& changes);

}  // namespace trocar
