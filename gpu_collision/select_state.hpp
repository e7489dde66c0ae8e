// Saves the OpenGL state that a GL_SELECT pass changes, sets a known state, and restores the old one on destruction, so
// that a renderer sharing the context is not affected. Tested in tests/gpu_collision/drawn_query_test.cpp
#pragma once

#include <array>

#include "gpu_collision/gl_context.hpp"

namespace trocar {

// During its lifetime: fixed function, `framebuffer` bound, no culling, client arrays off, the default vertex
// array bound, depth -1 to 1. A context must be current, in render mode.
class SelectState {
 public:
  SelectState(const GlInfo& info, unsigned framebuffer);
  ~SelectState();
  SelectState(const SelectState&) = delete;
  SelectState& operator=(const SelectState&) = delete;

 private:
  void save();
  void enter(unsigned framebuffer);

  const bool has_pipelines_, has_clip_control_;
  std::array<float, 16> model_view_{}, projection_{};
  int program_ = 0, pipeline_ = 0, framebuffer_ = 0, vertex_array_ = 0, selection_size_ = 0;
  void* selection_ = nullptr;  // for a renderer that also uses GL_SELECT
  bool discards_ = false;
};

}  // namespace trocar
