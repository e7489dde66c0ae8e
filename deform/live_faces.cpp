#include "deform/live_faces.hpp"

namespace trocar {

void LiveFaces::add(FaceKind face_kind, const glm::uvec3& face, std::uint32_t wall_side) {
  corners.push_back(face);
  kind.push_back(face_kind);
  side.push_back(wall_side);
  removed.push_back(0);
}

LiveFaces make_live_faces(std::span<const glm::uvec3> faces) {
  LiveFaces live;
  for (const glm::uvec3& face : faces) {
    live.add(FaceKind::Skin, face);
    live.id.push_back(FaceId(live.next_id++));
  }
  return live;
}

void settle(LiveFaces& faces, FaceChanges& changes) {
  changes.removed.clear();
  changes.first_new = FaceId(faces.next_id);
  const std::size_t numbered = faces.id.size();
  std::size_t kept = 0;
  for (std::size_t slot = 0; slot < faces.size(); ++slot) {
    if (faces.removed[slot]) {
      if (slot < numbered) changes.removed.push_back(faces.id[slot]);
      continue;
    }
    faces.corners[kept] = faces.corners[slot];
    faces.kind[kept] = faces.kind[slot];
    faces.side[kept] = faces.side[slot];
    if (slot < numbered)
      faces.id[kept] = faces.id[slot];
    else if (kept < numbered)
      faces.id[kept] = FaceId(faces.next_id++);
    else
      faces.id.push_back(FaceId(faces.next_id++));
    ++kept;
  }
  faces.corners.resize(kept);
  faces.kind.resize(kept);
  faces.side.resize(kept);
  faces.id.resize(kept);
  faces.removed.assign(kept, 0);
  changes.new_faces = faces.next_id - index(changes.first_new);
}

}  // namespace trocar
