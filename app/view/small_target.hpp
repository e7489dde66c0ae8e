// Renders with OpenGL at a reduced resolution, then scales the result up to the full picture.
// Tested in tests/app/view_test.cpp
#pragma once

#include <glm/glm.hpp>

#include "app/view/gl_shape.hpp"

namespace trocar {

class SmallTarget {
 public:
  ~SmallTarget();
  // Redirects drawing into this target and remembers the bound framebuffer.
  void begin(const glm::ivec2& size);
  // Binds that framebuffer again and scales the picture up to it, within `field` half heights left and right of the
  // centre; the remaining columns become black.
  void end(const glm::ivec2& full_size, double field);

 private:
  void free();

  glm::ivec2 size_{0};
  unsigned framebuffer_ = 0, colour_ = 0, depth_ = 0;
  int outer_ = 0;
  Shader upscale_{"upscale", "upscale.vert", {"upscale.frag"}};
  gl::VertexArray empty_ = gl::make_vertex_array();
};

}  // namespace trocar
