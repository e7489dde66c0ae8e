// Runs one call of `compute` on the GPU: writes the tools' planes, dispatches the shaders, and reads the records.
// Tools, counts and records lie in buffers in host memory that stay mapped, so that a call copies nothing. The OpenGL
// context must be current.   Units: metres.   Tested through tests/gpu_collision/compute_test.cpp and gl_calls_test.cpp
#pragma once

#include <array>
#include <span>

#include "geometry/tool_volume.hpp"
#include "gpu_collision/compute_answer.hpp"
#include "gpu_collision/compute_query.hpp"
#include "gpu_collision/compute_transfer.hpp"

namespace trocar {

class ComputeCall {
 public:
  ComputeCall(GlContext& context, const ComputeTuning& tuning, gl::FaultWatch& fault);
  ~ComputeCall();
  ComputeCall(const ComputeCall&) = delete;
  ComputeCall& operator=(const ComputeCall&) = delete;

  // The organ: textures of positions, block vertices, block ranges and corners (compute_blocks.hpp).
  struct Organ {
    std::array<gl::Name, 4> textures{};
    std::uint32_t blocks = 0;
  };

  // Returns whether the context's limits allow an organ with this number of slots for faces, and of vertices.
  bool can_hold(std::size_t slots, std::size_t vertices) const;
  // Returns whether blocks are rejected by their boxes before their faces are tested.
  bool culls(std::size_t blocks, std::size_t tools) const;
  // Makes room for the worst case, every face touched by every tool, so that no call is ever repeated. Where a storage
  // block cannot be that large, the room is smaller: the shaders count records beyond it but do not write them. Raises
  // TooLarge. Allocates when `blocks` or `tools` is larger than before.
  void reserve(std::size_t blocks, std::size_t tools);
  // Dispatches the shaders. Every submit() is followed by collect() or drop().
  void submit(const Organ& organ, std::span<const ToolVolume> tools);
  // Waits for the records of the call; none if nothing was submitted. After a fault, and when they are not the answer
  // to this call (which also raises a fault): none. Valid until the next submit().
  std::span<const ComputeRecord> collect();
  void drop();

  double gpu_ms();  // of the newest finished call; 0 without the timer
  std::size_t memory_bytes() const;

 private:
  void write_tools(std::uint32_t blocks, std::span<const ToolVolume> tools);
  void bind(const Organ& organ) const;
  void dispatch(std::uint32_t blocks, bool culled);

  gl::FaultWatch& fault_;
  gl::Submissions& submissions_;
  const ComputeTuning tuning_;
  int max_groups_ = 0, max_texels_ = 0;
  std::size_t max_block_ = 0;  // bytes of a storage buffer that a shader can access
  gl::Program cull_, clip_culled_, clip_all_, finish_;
  gl::Timer timer_;

  std::size_t block_capacity_ = 0, tool_capacity_ = 0, record_capacity_ = 0;
  gl::MappedBuffer tools_, answer_;
  gl::BufferTexture tool_texture_;
  gl::DeviceBuffer work_, counters_;
  std::uint32_t call_ = 0;        // number of the last call
  std::uint64_t submission_ = 0;  // of the last call
  bool pending_ = false;          // submitted, not yet collected
  bool all_fit_ = false;          // the records of every possible answer fit
};

}  // namespace trocar
