// Converts the GPU's records to the answer: unordered (face, tool) pairs in float become the sorted touch list, with
// every uncertain face decided in double. It contains no OpenGL. Units: metres.   Tested through
// tests/gpu_collision/compute_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"

namespace trocar {

// One face that may touch one tool's volume, as the shader writes it.
struct ComputeRecord {
  std::uint32_t face;  // bit 31: certain touch
  std::uint32_t tool;
};
constexpr std::uint32_t kCertainTouch = 0x8000'0000u;

// Keeps its storage: allocates only when an answer has more touches than all earlier ones.
class ComputeAnswer {
 public:
  void resize(std::size_t faces);  // for a new mesh; the list becomes empty
  // Makes the list of touches from `records`, which holds every touching (face, tool) once and may hold others. Returns
  // false, with an empty list, when a record names a face or a tool that does not exist.
  bool settle(std::span<const ComputeRecord> records, std::span<const ToolVolume> tools, TouchSet set,
              const MeshView& mesh);
  void clear();  // empties the list: no tools, no touches
  // Appends tools without touches up to this number of tools.
  void pad(std::size_t tools);
  TouchList list() const { return {touches_, first_}; }
  std::size_t memory_bytes() const;

 private:
  bool bucket_by_tool(std::span<const ComputeRecord> records, std::size_t tools, std::size_t faces);
  void append_volume(std::span<const std::uint32_t> faces, const ToolVolume& tool, const MeshView& mesh);
  void append_exact(std::span<const std::uint32_t> faces, const ToolVolume& tool, const MeshView& mesh);

  // A set of faces that iterates in order: a bit per face, and a summary bit per 64 faces. Empty between calls.
  void insert(std::uint32_t face);
  template <typename Visit>
  void drain(Visit visit);

  std::vector<Touch> touches_;
  std::vector<std::uint32_t> first_{0};         // [tool + 1] of touches_
  std::vector<std::uint32_t> bucketed_, ends_;  // [record] faces by tool, with the certain bit; [tool] end of its faces
  std::vector<FaceId> candidates_;              // candidates of one tool, sorted
  std::vector<std::uint64_t> members_, filled_;  // [face / 64], [face / 4096]
};

}  // namespace trocar
