// Renders with OpenGL at a reduced resolution, smooths the edges, and scales the result up to the full picture.
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
  void allocate(const glm::ivec2& size);
  void free();
  // Draws from a texture over the bound framebuffer with the program in use, in the columns within `field` half heights
  // of the centre.
  static void copy(unsigned texture, const glm::ivec2& size, double field);

  glm::ivec2 size_{0};
  unsigned framebuffers_[2]{}, colours_[2]{}, depth_ = 0;  // [0] what is drawn, [1] with smooth edges
  int outer_ = 0;
  Shader smooth_{"smooth", "upscale.vert", {"smooth.frag"}};
  Shader upscale_{"upscale", "upscale.vert", {"upscale.frag"}};
  gl::VertexArray empty_ = gl::make_vertex_array();
};

}  // namespace trocar
