#include "gpu_collision/compute_answer.hpp"

#include <utility>

#include "geometry/tool_volume.hpp"

namespace trocar {
namespace {

Triangle triangle_of(const ComputeRecord& record) {
  return {glm::dvec3(record.a), glm::dvec3(record.b), glm::dvec3(record.c)};
}

}  // namespace

void ComputeAnswer::resize(std::size_t faces) {
  members_.resize(faces);
  record_of_.resize(faces);
  clear();
}

bool ComputeAnswer::settle(std::span<const ComputeRecord> records, std::span<const ToolVolume> tools, TouchSet set,
                           std::span<const std::uint32_t> face_of_slot) {
  clear();
  if (!bucket_by_tool(records, tools.size(), face_of_slot.size())) return false;
  std::uint32_t begin = 0;
  for (std::size_t tool = 0; tool < tools.size(); begin = ends_[tool++]) {
    for (std::uint32_t i = begin; i < ends_[tool]; ++i) {
      const ComputeRecord& record = records[bucketed_[i]];
      const bool in = set == TouchSet::Exact || (record.slot & kCertainTouch) != 0 ||
                      face_touches_volume(triangle_of(record), tools[tool]);
      if (!in) continue;
      const std::uint32_t face = face_of_slot[record.slot & ~kCertainTouch];
      members_.insert(face);
      record_of_[face] = bucketed_[i];
    }
    candidates_.clear();
    corners_.clear();
    members_.drain([&](std::uint32_t face) {
      candidates_.push_back(FaceId{face});
      if (set == TouchSet::Exact) corners_.push_back(triangle_of(records[record_of_[face]]));
    });
    book_.add_tool(tools[tool], set, std::span<const Triangle>(corners_), candidates_);
  }
  return true;
}

std::size_t ComputeAnswer::memory_bytes() const {
  return book_.memory_bytes() + members_.memory_bytes() +
         held_bytes(candidates_, corners_, record_of_, bucketed_, ends_);
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
  for (std::uint32_t i = 0; i < records.size(); ++i) bucketed_[ends_[records[i].tool]++] = i;
  return true;
}

}  // namespace trocar
