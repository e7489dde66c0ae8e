#include "gpu_collision/compute_answer.hpp"

#include <bit>
#include <utility>

#include "geometry/convex_clip.hpp"
#include "geometry/refine.hpp"

namespace trocar {

void ComputeAnswer::resize(std::size_t faces) {
  members_.assign((faces + 63) / 64, 0);
  filled_.assign((members_.size() + 63) / 64, 0);
  clear();
}

void ComputeAnswer::clear() {
  touches_.clear();
  first_.assign(1, 0);
}

bool ComputeAnswer::settle(std::span<const ComputeRecord> records, std::span<const ToolVolume> tools, TouchSet set,
                           const MeshView& mesh) {
  clear();
  if (!bucket_by_tool(records, tools.size(), mesh.faces.size())) return false;
  std::uint32_t begin = 0;
  for (std::size_t tool = 0; tool < tools.size(); ++tool) {
    const auto faces = std::span<const std::uint32_t>(bucketed_).subspan(begin, ends_[tool] - begin);
    begin = ends_[tool];
    if (set == TouchSet::Volume) {
      append_volume(faces, tools[tool], mesh);
    } else {
      append_exact(faces, tools[tool], mesh);
    }
    first_.push_back(static_cast<std::uint32_t>(touches_.size()));
  }
  return true;
}

void ComputeAnswer::pad(std::size_t tools) {
  while (first_.size() < tools + 1) first_.push_back(first_.back());
}

std::size_t ComputeAnswer::memory_bytes() const {
  return touches_.capacity() * sizeof(Touch) + candidates_.capacity() * sizeof(FaceId) +
         (first_.capacity() + bucketed_.capacity() + ends_.capacity()) * sizeof(std::uint32_t) +
         (members_.capacity() + filled_.capacity()) * sizeof(std::uint64_t);
}

// Counting sort: ends_ first holds counts, then the position of each tool's next face.
bool ComputeAnswer::bucket_by_tool(std::span<const ComputeRecord> records, std::size_t tools, std::size_t faces) {
  ends_.assign(tools, 0);
  for (const ComputeRecord& record : records) {
    if (record.tool >= tools || (record.face & ~kCertainTouch) >= faces) return false;
    ++ends_[record.tool];
  }
  std::uint32_t begin = 0;
  for (std::uint32_t& end : ends_) begin += std::exchange(end, begin);
  bucketed_.resize(records.size());
  for (const ComputeRecord& record : records) bucketed_[ends_[record.tool]++] = record.face;
  return true;
}

void ComputeAnswer::append_volume(std::span<const std::uint32_t> faces, const ToolVolume& tool, const MeshView& mesh) {
  for (const std::uint32_t entry : faces) {
    const std::uint32_t face = entry & ~kCertainTouch;
    if (face != entry || face_touches_volume(triangle_of(mesh.positions, mesh.faces[face]), tool)) insert(face);
  }
  drain([&](std::uint32_t face) { touches_.push_back({.face = FaceId{face}}); });
}

void ComputeAnswer::append_exact(std::span<const std::uint32_t> faces, const ToolVolume& tool, const MeshView& mesh) {
  for (const std::uint32_t entry : faces) insert(entry & ~kCertainTouch);
  candidates_.clear();
  drain([&](std::uint32_t face) { candidates_.push_back(FaceId{face}); });
  const std::size_t start = touches_.size();
  touches_.resize(start + candidates_.size());
  touches_.resize(start + refine_touches(tool.step, mesh, candidates_, std::span(touches_).subspan(start)));
}

void ComputeAnswer::insert(std::uint32_t face) {
  members_[face >> 6] |= std::uint64_t{1} << (face & 63);
  filled_[face >> 12] |= std::uint64_t{1} << ((face >> 6) & 63);
}

// Calls visit(face) in ascending order and empties the set.
template <typename Visit>
void ComputeAnswer::drain(Visit visit) {
  for (std::size_t s = 0; s < filled_.size(); ++s) {
    for (std::uint64_t words = std::exchange(filled_[s], 0); words != 0; words &= words - 1) {
      const std::size_t w = s * 64 + static_cast<std::size_t>(std::countr_zero(words));
      for (std::uint64_t bits = std::exchange(members_[w], 0); bits != 0; bits &= bits - 1) {
        visit(static_cast<std::uint32_t>(w * 64) + static_cast<std::uint32_t>(std::countr_zero(bits)));
      }
    }
  }
}

}  // namespace trocar
