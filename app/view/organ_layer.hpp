// Draws organs with OpenGL: wet tissue, touched faces, and the instruments' shadows.   Tested in
// tests/app/view_test.cpp
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "app/view/gl_shape.hpp"
#include "app/view/shadow.hpp"
#include "geometry/view_pyramid.hpp"

namespace trocar {

class OrganLayer {
 public:
  explicit OrganLayer(std::span<const DrawnOrgan> organs);

  // Uploads positions, normals, looks and topology that have changed.
  void update(std::span<const DrawnOrgan> organs);
  // Draws the organs that are not wholly outside `seen`.
  void draw(std::span<const DrawnOrgan> organs, Quality quality, const std::optional<ViewPyramid>& seen);
  // Draws the touched faces, blended over the tissue, in one colour for each instrument.
  void draw_touched(std::span<const DrawnOrgan> organs);
  void draw_shadows(std::span<const DrawnOrgan> organs, std::span<const DrawnTool> tools, const glm::vec3& lamp);

 private:
  struct Organ {
    Shape shape;
    gl::Buffer rest = gl::make_buffer(), charred = gl::make_buffer(), wet = gl::make_buffer();
    std::vector<glm::vec3> positions, normals;  // [vertex] as uploaded
    BoundingSphere sphere;                      // of the positions
    std::vector<float> looks;                   // [vertex] as uploaded; empty: the organ has none
    std::vector<glm::vec2> films;               // [vertex] DrawnOrgan::wet as uploaded; empty: the organ has none
    std::uint32_t topology = 0;
    unsigned drawn_from = 0;   // the backend's buffer of positions; 0: our own
    float longest_edge = 0.f;  // m
    bool one_sided = false;    // closed, with outward faces: back faces need not be drawn
  };
  static Organ make_organ(const DrawnOrgan& drawn);
  void draw_faces(const Organ& organ, const DrawnOrgan& drawn, std::span<const glm::uvec3> faces);

  std::vector<Organ> organs_;                                   // [organ]
  std::array<std::array<std::optional<Shader>, 2>, 3> tissue_;  // [quality][vessels], compiled at first use
  Shader touched_{"touched", "touched.vert", {"touched.frag"}};
  Shader shadow_{"shadow", "shadow.vert", {"shadow.frag"}};
  gl::VertexArray some_array_ = gl::make_vertex_array();
  gl::Buffer some_faces_ = gl::make_buffer();
  std::vector<glm::uvec3> picked_;
  std::vector<std::uint8_t> flags_;
};

}  // namespace trocar
