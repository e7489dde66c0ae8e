// Draws instruments with OpenGL.   Tested in tests/app/view_test.cpp
#pragma once

#include <array>
#include <vector>

#include "app/view/drawn.hpp"
#include "app/view/gl_shape.hpp"
#include "sim/device/tool_shape.hpp"

namespace trocar {

class ToolLayer {
 public:
  ToolLayer();
  void draw(std::span<const DrawnTool> tools) const;

 private:
  struct Part {
    ToolPart part;  // for its pose and surface; the triangles are in `shape`
    Shape shape;
  };
  std::array<std::vector<Part>, kInstrumentKinds.size()> parts_;  // [kind][part]
  Shader metal_{"metal", "plain.vert", {"lighting.glsl", "metal.frag"}};
};

}  // namespace trocar
