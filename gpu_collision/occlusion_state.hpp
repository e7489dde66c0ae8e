// Saves the OpenGL state that an occlusion pass changes, sets a known state, and restores the old one on destruction,
// so that a renderer sharing the context is not affected. Tested in tests/gpu_collision/drawn_query_test.cpp
#pragma once

#include <array>
#include <cstdint>

#include "gpu_collision/gl_context.hpp"

namespace trocar {

// During its lifetime `framebuffer` is bound with a viewport of one pixel, every sample passes, and clip distances are
// off. A context must be current, without an active transform feedback or samples-passed query of the renderer.
class OcclusionState {
 public:
  OcclusionState(const GlInfo& info, unsigned framebuffer);
  ~OcclusionState();
  OcclusionState(const OcclusionState&) = delete;
  OcclusionState& operator=(const OcclusionState&) = delete;

 private:
  void save();
  void save_feedback_buffer();

  static constexpr int kFeatures = 13;
  const bool compatibility_;
  std::array<bool, kFeatures> enabled_{};
  std::array<int, 4> viewport_{};
  int program_ = 0, framebuffer_ = 0, vertex_array_ = 0, read_buffer_ = 0;
  int feedback_buffer_ = 0, feedback_slot_ = 0;
  std::int64_t feedback_start_ = 0, feedback_size_ = 0;
};

}  // namespace trocar
