// Draws instruments with OpenGL.   Tested in tests/app/view_test.cpp
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "app/view/drawn.hpp"
#include "app/view/gl_shape.hpp"
#include "geometry/view_pyramid.hpp"
#include "sim/device/tool_shape.hpp"

namespace trocar {

class ToolLayer {
 public:
  ToolLayer();
  // Draws the parts that are not wholly outside `seen`.
  void draw(std::span<const DrawnTool> tools, const std::optional<ViewPyramid>& seen) const;
  // Draws transparent instruments over a finished picture with its depths. Only their nearest surface is visible.
  void draw_ghosts(std::span<const DrawnTool> tools, const std::optional<ViewPyramid>& seen) const;

 private:
  struct Part {
    ToolPart part;  // for its pose and surface; the triangles are in `shape`
    Shape shape;
    BoundingSphere sphere;  // of the triangles
  };
  void draw_shapes(std::span<const DrawnTool> tools, const std::optional<ViewPyramid>& seen, const Shader& shader,
                   bool finished) const;

  std::array<std::vector<Part>, kInstrumentKinds.size()> parts_;  // [kind][part]
  Shader metal_{"metal", "plain.vert", {"lighting.glsl", "metal.frag"}}, ghost_{"ghost", "plain.vert", {"ghost.frag"}};
};

}  // namespace trocar
