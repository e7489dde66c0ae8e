// Draws what is made of metal, and the smoke of a burning hook: instruments with OpenGL, closed clips.
// Units: metres, seconds.   Tested in tests/app/view_test.cpp; smoke in tests/app/view_test.cpp
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "app/view/drawn.hpp"
#include "app/view/gl_shape.hpp"
#include "geometry/view_pyramid.hpp"
#include "sim/device/tool_shape.hpp"

namespace trocar {

struct SmokePuff {
  glm::vec3 location{0.f}, velocity{0.f};  // m, m/s
  float age = 0.f, life = 0.f;             // s; life 0: none
  float seed = 0.f;                        // 1   0 .. 1, of its shape
};

// Up to 56 puffs that leave the tip, rise, widen and fade. The patient lies on the back, so up is +z. The state has a
// fixed size. It is reproducible, because it depends only on the instruments and the times of the pictures.
struct SmokeState {
  std::array<SmokePuff, 56> puffs{};
  std::size_t next = 0;    // the puff to be overwritten next
  std::uint32_t born = 0;  // number since the start
  double owed = 0.0;       // 1   fraction of the next puff
  double time = 0.0;       // s
  float haze = 0.f;        // 1   density of the smoke that fills the abdomen, 0 clear .. 1
};

// Advances to the picture at `time`. A jump back, or of more than a second, removes all puffs.
void advance(SmokeState& smoke, std::span<const DrawnTool> tools, double time);

// A vertex of the two triangles of a puff; the shader turns them towards the eye.
struct SmokeVertex {
  glm::vec4 centre_radius;        // m
  glm::vec4 corner_seed_density;  // 1
};
void smoke_vertices(const SmokeState& smoke, std::vector<SmokeVertex>& vertices);

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

// Closed clips: bent wires of metal.
class ClipLayer {
 public:
  ClipLayer();
  void draw(std::span<const DrawnClip> clips) const;

 private:
  Shape shape_;  // along z from 0 to kDrawnLegs, its legs on both sides of y = 0
  Shader metal_{"metal", "plain.vert", {"lighting.glsl", "metal.frag"}};
};

}  // namespace trocar
