#include "gpu_collision/compute_answer.hpp"

#include <utility>

#include "geometry/convex_clip.hpp"

namespace trocar {

void ComputeAnswer::resize(std::size_t faces) {
  members_.resize(faces);
  clear();
}

bool ComputeAnswer::settle(std::span<const ComputeRecord> records, std::span<const ToolVolume> tools, TouchSet set,
                           const MeshView& mesh, std::span<const std::uint32_t> face_of_slot) {
  clear();
  if (!bucket_by_tool(records, tools.size(), face_of_slot.size())) return false;
  std::uint32_t begin = 0;
  for (std::size_t tool = 0; tool < tools.size(); begin = ends_[tool++]) {
    for (std::uint32_t i = begin; i < ends_[tool]; ++i) {
      const std::uint32_t slot = bucketed_[i] & ~kCertainTouch, face = face_of_slot[slot];
      const bool in = set == TouchSet::Exact || slot != bucketed_[i] ||
                      face_touches_volume(triangle_of(mesh.positions, mesh.faces[face]), tools[tool]);
      if (in) members_.insert(face);
    }
    candidates_.clear();
    members_.drain([this](std::uint32_t face) { candidates_.push_back(FaceId{face}); });
    book_.add_tool(tools[tool], set, mesh, candidates_);
  }
  return true;
}

std::size_t ComputeAnswer::memory_bytes() const {
  return book_.memory_bytes() + members_.memory_bytes() + held_bytes(candidates_, bucketed_, ends_);
}

// Counting sort: ends_ first holds counts, then the position of each tool's next record.
bool ComputeAnswer::bucket_by_tool(std::span<const ComputeRecord> records, std::size_t tools, std::size_t slots) {
  ends_.assign(tools, 0);
  for (const ComputeRecord& record : records) {
    if (record.tool >= tools || (record.slot & ~kCertainTouch) >= slots) return false;
    ++ends_[record.tool];
  }
  std::uint32_t begin = 0;
  for (std::uint32_t& end : ends_) begin += std::exchange(end, begin);
  bucketed_.resize(records.size());
  for (const ComputeRecord& record : records) bucketed_[ends_[record.tool]++] = record.slot;
  return true;
}

}  // namespace trocar
