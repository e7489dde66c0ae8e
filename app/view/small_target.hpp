// A smaller picture to draw into where the full one would take too long, spread over the full one afterwards.
// OpenGL inside.
#pragma once

#include <glm/glm.hpp>

#include "app/view/gl_shape.hpp"

namespace trocar {

class SmallTarget {
 public:
  ~SmallTarget();
  // Draws into itself from now on; remembers the framebuffer it takes the place of.
  void begin(const glm::ivec2& size);
  // Spreads itself over that framebuffer, which is bound again: only what lies within `field` half heights of the
  // middle, left and right; the rest becomes black.
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
