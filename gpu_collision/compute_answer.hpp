// From the GPU's records to the answer: unordered (face, tool) pairs in float become the sorted touch list, every doubt
// decided in double. No OpenGL here. Units: metres.   Tested through tests/gpu_collision/compute_test.cpp
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
  std::uint32_t face;  // bit 31: touches for certain
  std::uint32_t tool;
};
constexpr std::uint32_t kCertainTouch = 0x8000'0000u;

// Keeps its storage: nothing allocates once as many touches have been seen.
class ComputeAnswer {
 public:
  void resize(std::size_t faces);  // for a new mesh; the list becomes empty
  // Replaces the list. `records`: every touching (face, tool) once, perhaps others. False, and an empty list, when one
  // names a face or a tool that does not exist.
  bool settle(std::span<const ComputeRecord> records, std::span<const ToolVolume> tools, TouchSet set,
              const MeshView& mesh);
  void clear();  // no tool, no touch
  // Adds tools without a touch until there are so many.
  void pad(std::size_t tools);
  TouchList list() const { return {touches_, first_}; }
  std::size_t memory_bytes() const;

 private:
  bool bucket_by_tool(std::span<const ComputeRecord> records, std::size_t tools, std::size_t faces);
  void append_volume(std::span<const std::uint32_t> faces, const ToolVolume& tool, const MeshView& mesh);
  void append_exact(std::span<const std::uint32_t> faces, const ToolVolume& tool, const MeshView& mesh);

  // A set of faces that gives them back in order: a bit per face, and a bit per 64 of those. Empty between calls.
  void insert(std::uint32_t face);
  template <typename Visit>
  void drain(Visit visit);

  std::vector<Touch> touches_;
  std::vector<std::uint32_t> first_{0};          // [tool + 1] of touches_
  std::vector<std::uint32_t> bucketed_, ends_;   // [record] faces by tool, certain bit kept; [tool] end of its faces
  std::vector<FaceId> candidates_;               // of one tool, sorted
  std::vector<std::uint64_t> members_, filled_;  // [face / 64], [face / 4096]
};

}  // namespace trocar
