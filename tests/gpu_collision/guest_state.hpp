// A renderer's OpenGL state, as hostile to a guest as can be, and a snapshot of it: a query that shares the context
// must answer right in it and leave it as it was. Units: none.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "gpu_collision/gl_context.hpp"
#include "gpu_collision/gl_objects.hpp"
#include "gpu_collision/one_pixel_target.hpp"

namespace trocar {

// Everything that a backend might touch is set to something unusual for as long as it lives.
class HostileRenderer {
 public:
  explicit HostileRenderer(const GlInfo& info);
  ~HostileRenderer();
  // From now on whole buffers stand in the slots of storage and feedback where parts stood, and parts where whole ones.
  void swap_slots(const GlInfo& info);
  HostileRenderer(const HostileRenderer&) = delete;
  HostileRenderer& operator=(const HostileRenderer&) = delete;

 private:
  void set_fixed_function();
  void bind_buffers();
  void bind_storage();
  void bind_textures();
  void set_switches_and_values();

  const bool compatibility_;
  gl::Program program_;
  gl::VertexArray vertex_array_;
  gl::Buffer array_, feedback_, copy_read_, copy_write_, storage_;
  gl::OnePixelTarget target_;
  std::array<gl::Name, 7> textures_{};  // of the units that `compute` uses, then a picture
  gl::Name renderbuffer_ = 0, pipeline_ = 0;
  std::array<gl::Name, 64> selection_{};
};

// One line "name = values" per piece of state.
std::vector<std::string> gl_snapshot(const GlInfo& info);

}  // namespace trocar
