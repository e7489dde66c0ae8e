// Runs one call of `compute` on the GPU: writes the tools' planes, dispatches the shaders, and reads the records.
// Tools and records lie in buffers in host memory that stay mapped, so that a call copies nothing. The OpenGL context
// must be current.   Units: metres.   Tested through tests/gpu_collision/compute_test.cpp and gl_calls_test.cpp
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
  // Makes room for these tools and for the records of an ordinary call. Raises TooLarge. Allocates when `blocks` or
  // `tools` is larger than before.
  void reserve(std::size_t blocks, std::size_t tools);
  // Dispatches the shaders. Every submit() is followed by collect() or drop(); until then `tools` stay unchanged.
  void submit(const Organ& organ, std::span<const ToolVolume> tools);
  // Waits for the records of the call; none if nothing was submitted. A call with more records than there is room for
  // is repeated with more room. After a fault, and when the records are not the answer to this call (which also raises
  // a fault): none. Valid until the next submit().
  std::span<const ComputeRecord> collect();
  void drop() { pending_ = false; }

  double gpu_ms();  // of the newest finished call; 0 without the timer
  std::size_t memory_bytes() const;

 private:
  void send();
  void write_tools();
  void bind() const;
  void bind_tools(std::size_t pass) const;
  void dispatch();
  void make_room(std::size_t records);
  // Waits and returns the number of records; nothing after a fault.
  std::size_t wait_for_count();

  GlContext& context_;
  gl::FaultWatch& fault_;
  const ComputeTuning tuning_;
  int max_groups_ = 0, max_texels_ = 0;
  std::size_t max_block_ = 0;  // bytes of a storage buffer that a shader can access
  gl::Program cull_, faces_of_work_, all_faces_;
  gl::Timer timer_;

  std::size_t block_capacity_ = 0, tool_capacity_ = 0, record_capacity_ = 0;
  gl::MappedBuffer tool_blocks_, answer_;
  gl::DeviceBuffer work_, counters_;
  // Of the submitted call.
  Organ organ_;
  std::span<const ToolVolume> tools_;
  std::uint32_t call_ = 0;  // number of the call
  std::uint64_t submission_ = 0;
  bool pending_ = false;  // submitted, not yet collected
};

}  // namespace trocar
