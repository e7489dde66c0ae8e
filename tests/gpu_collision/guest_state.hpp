// Sets a renderer's OpenGL state to unusual values and takes a snapshot of it. A query that shares the context must
// answer correctly and leave this state unchanged. Units: none.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "gpu_collision/drawn_query.hpp"
#include "gpu_collision/gl_context.hpp"
#include "gpu_collision/gl_objects.hpp"

namespace trocar {

// During its lifetime everything that a backend may touch has an unusual setting.
class HostileRenderer {
 public:
  explicit HostileRenderer(const GlInfo& info);
  ~HostileRenderer();
  // Rebinds the slots of storage and feedback: whole buffers where there were ranges, and ranges where there were
  // buffers.
  void swap_slots(const GlInfo& info);
  HostileRenderer(const HostileRenderer&) = delete;
  HostileRenderer& operator=(const HostileRenderer&) = delete;

 private:
  void set_fixed_function();
  void bind_buffers();
  void bind_storage();
  void bind_storage_slots(unsigned first);
  void bind_textures();
  void set_switches_and_values();

  const bool compatibility_;
  gl::Program program_;
  gl::VertexArray vertex_array_;
  gl::Buffer array_, feedback_, copy_read_, copy_write_, storage_;
  gl::OnePixelTarget target_;
  std::array<gl::Name, 7> textures_{};  // for the units that `compute` uses, then a 2D texture
  gl::Name renderbuffer_ = 0, pipeline_ = 0;
  std::array<gl::Name, 64> selection_{};
};

// Returns one line "name = values" per item of state.
std::vector<std::string> gl_snapshot(const GlInfo& info);

}  // namespace trocar
