// Draws strands of connective tissue with OpenGL: ribbons that face the eye and are lit like wet, translucent threads.
// Tested in tests/app/view_test.cpp
#pragma once

#include "app/view/drawn.hpp"
#include "app/view/gl_shape.hpp"

namespace trocar {

class StrandLayer {
 public:
  StrandLayer();
  // Blended: needs the depth buffer of what is in front.
  void draw(std::span<const DrawnStrand> strands) const;

 private:
  Shader shader_{"strand", "strand.vert", {"lighting.glsl", "strand.frag"}};
  gl::VertexArray array_ = gl::make_vertex_array();
  gl::Buffer ends_ = gl::make_buffer();
};

}  // namespace trocar
