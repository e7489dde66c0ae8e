// Draws closed clips with OpenGL: bent wires of metal.   Tested in tests/app/view_test.cpp
#pragma once

#include "app/view/drawn.hpp"
#include "app/view/gl_shape.hpp"

namespace trocar {

class ClipLayer {
 public:
  ClipLayer();
  void draw(std::span<const DrawnClip> clips) const;

 private:
  Shape shape_;  // along z from 0 to kDrawnLegs, its legs on both sides of y = 0
  Shader metal_{"metal", "plain.vert", {"lighting.glsl", "metal.frag"}};
};

}  // namespace trocar
