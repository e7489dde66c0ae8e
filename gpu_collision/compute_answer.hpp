// Converts the GPU's records to the answer: unordered (face, tool) pairs in float become the sorted touch list, with
// every uncertain face decided in double from the corners that the GPU saw. It contains no OpenGL. Units: metres.
// Tested through tests/gpu_collision/compute_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "geometry/face_numbers.hpp"
#include "geometry/refine.hpp"

namespace trocar {

// One face that may touch one tool's volume, as the shader writes it.
struct ComputeRecord {
  std::uint32_t slot;  // of the face (compute_blocks.hpp); bit 31: certain touch
  std::uint32_t tool;
  glm::vec3 a, b, c;  // m
  std::uint32_t unused;
};
static_assert(sizeof(ComputeRecord) == 48);
constexpr std::uint32_t kCertainTouch = 0x8000'0000u;

// Keeps its storage: allocates only when an answer has more touches than all earlier ones.
class ComputeAnswer {
 public:
  void resize(std::size_t faces);  // for a new mesh; the list becomes empty
  // Makes the list of touches from `records`, which holds every touching (face, tool) at least once and may hold
  // others. Returns false, with an empty list, when a record names a slot or a tool that does not exist.
  bool settle(std::span<const ComputeRecord> records, std::span<const ToolVolume> tools, TouchSet set,
              std::span<const std::uint32_t> face_of_slot);
  void clear() { book_.open(); }  // empties the list: no tools, no touches
  // Appends tools without touches up to this number of tools.
  void pad(std::size_t tools) { book_.pad(tools); }
  TouchList list() const { return book_.list(); }
  std::size_t memory_bytes() const;

 private:
  bool bucket_by_tool(std::span<const ComputeRecord> records, std::size_t tools, std::size_t slots);

  TouchBook book_;
  std::vector<std::uint32_t> bucketed_, ends_;  // [record] record numbers by tool; [tool] end of its records
  FaceSet members_;                             // candidates of one tool; empty between calls
  std::vector<std::uint32_t> record_of_;        // [face] of a member
  std::vector<FaceId> candidates_;              // the members, sorted
  std::vector<Triangle> corners_;               // [candidate]
};

}  // namespace trocar
