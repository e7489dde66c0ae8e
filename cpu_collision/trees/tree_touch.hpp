// Implements the update of positions and the touch query of VolumeTreeQuery. Each .cpp file that makes a kind of tree
// includes this file.
#pragma once

#include "cpu_collision/trees/tree_query.hpp"

namespace trocar {

template <class Volume>
void VolumeTreeQuery<Volume>::build() {
  const std::span<const glm::vec3> positions = positions_.view();
  corners_.resize(positions.size());
  std::transform(positions.begin(), positions.end(), corners_.begin(), [](const glm::vec3& p) { return lanes(p); });
  builder_.build(corners_, faces_, split_params(), tree_);
}

template <class Volume>
void VolumeTreeQuery<Volume>::rebuild(const MeshView& mesh) {
  const auto start = Clock::now();
  faces_.assign(mesh.faces.begin(), mesh.faces.end());
  candidates_.reserve(faces_.size());
  book_.reserve(std::min(faces_.size(), kUsualTouches));
  positions_.assign(mesh.positions);
  build();
  if (plan_.update == TreeUpdate::Refit) {
    builder_.release();
    corners_ = {};
    change_.begin(tree_);
  }
  finish_update(start);
}

// A tree that is rebuilt in every frame is rebuilt here too, and so is one of which a large part changes.
template <class Volume>
void VolumeTreeQuery<Volume>::change_faces(const MeshView& mesh, std::span<const FaceId> removed) {
  constexpr std::size_t kSmallPart = 4;  // 1 / part of the faces
  const std::size_t changed = mesh.faces.size() + 2 * removed.size() - faces_.size();
  if (plan_.update == TreeUpdate::Rebuild || changed * kSmallPart > faces_.size()) return rebuild(mesh);
  const auto start = Clock::now();
  faces_.assign(mesh.faces.begin(), mesh.faces.end());
  candidates_.reserve(faces_.size());
  book_.reserve(std::min(faces_.size(), kUsualTouches));
  positions_.assign(mesh.positions);
  change_.apply(removed, faces_, positions_, split_params(), tree_);
  finish_update(start);
}

template <class Volume>
void VolumeTreeQuery<Volume>::update(std::span<const glm::vec3> positions) {
  const auto start = Clock::now();
  positions_.assign(positions);
  if (plan_.update == TreeUpdate::Rebuild) build();
  finish_update(start);
}

template <class Volume>
void VolumeTreeQuery<Volume>::finish_update(Clock::time_point start) {
  reach_ = reach_of(positions_.view());
  if (plan_.tight) {
    fit_tightly<Volume>(positions_, faces_, reach_, tree_);
  } else {
    fit_tree<Volume>(positions_, nullptr, reach_, tree_);
  }
  counters_.updated_nodes = tree_.node_count();
  times_.update_ms = milliseconds_since(start);
}

template <class Volume>
TouchList VolumeTreeQuery<Volume>::touched(std::span<const ToolVolume> tools, TouchSet set) {
  times_.search_ms = times_.refine_ms = 0.0;
  begin_question();
  book_.open();
  for (const ToolVolume& tool : tools) {
    const auto start = Clock::now();
    const ConvexTool convex = convex_tool(tool, reach_, set);
    candidates_.clear();
    if (convex.corner_count > 0) search(convex, Tool(convex), set);
    times_.search_ms += milliseconds_since(start);
    const auto found = Clock::now();
    std::sort(candidates_.begin(), candidates_.end());
    book_.add_tool(tool, set, mesh(), candidates_);
    times_.refine_ms += milliseconds_since(found);
  }
  return book_.list();
}

// A volume that misses the tool skips its subtree, a volume inside the tool takes all faces below, and the faces of all
// other visited nodes are tested one by one.
template <class Volume>
void VolumeTreeQuery<Volume>::search(const ConvexTool& convex, const Tool& tool, TouchSet set) {
  const std::uint32_t end = tree_.node_count();
  for (std::uint32_t node = 0; node < end;) {
    ++counters_.volume_tests;
    const BoxAnswer answer = meets(tool, tree_.nodes[node]);
    if (answer == BoxAnswer::Crosses) {
      if (tree_.own[node] > 0) test_faces(convex, own_slots(node), set);
      ++node;
      continue;
    }
    if (answer == BoxAnswer::Inside) take_faces(tree_.slots[node]);
    node = tree_.skip[node];
  }
}

template <class Volume>
void VolumeTreeQuery<Volume>::take_faces(IndexRange slots) {
  for (std::uint32_t k = slots.first; k < slots.first + slots.count; ++k)
    candidates_.push_back(FaceId(tree_.face_of_slot[k]));
}

// For the exact set every face that may be in the volume is a candidate: the refinement decides it.
template <class Volume>
void VolumeTreeQuery<Volume>::test_faces(const ConvexTool& tool, IndexRange slots, TouchSet set) {
  counters_.face_tests += slots.count;
  for (std::uint32_t k = slots.first; k < slots.first + slots.count; ++k) {
    const std::uint32_t face = tree_.face_of_slot[k];
    const glm::uvec3& v = faces_[face];
    const FaceAnswer answer = face_quick(tool, positions_[v.x], positions_[v.y], positions_[v.z]);
    if (answer == FaceAnswer::Out) continue;
    if (answer == FaceAnswer::Unclear && set == TouchSet::Volume && !face_meets(tool, triangle(face))) continue;
    candidates_.push_back(FaceId(face));
  }
}

template <class Volume>
std::size_t VolumeTreeQuery<Volume>::memory_bytes() const {
  return sizeof(*this) + trocar::memory_bytes(tree_) + builder_.memory_bytes() + change_.memory_bytes() +
         positions_.memory_bytes() + after_.memory_bytes() + book_.memory_bytes() +
         held_bytes(tree_.nodes, faces_, corners_, candidates_, open_nodes_, open_pairs_, pairs_, swept_) +
         (guest_ ? guest_->memory_bytes() : 0);
}

}  // namespace trocar
