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
  // Darkens what lies in the shadow of an instrument, on organs that are not wholly outside `seen`.
  void draw_shadows(std::span<const DrawnOrgan> organs, std::span<const DrawnTool> tools, const glm::vec3& lamp,
                    const std::optional<ViewPyramid>& seen);

 private:
  struct Organ {
    Shape shape;
    gl::Buffer rest = gl::make_buffer(), charred = gl::make_buffer(), wet = gl::make_buffer();
    std::vector<glm::vec3> positions, normals;  // [vertex] as uploaded
    BoundingSphere sphere;                      // of the positions
    std::vector<float> looks;                   // [vertex] as uploaded; empty: the organ has none
    std::vector<glm::vec2> films;               // [vertex] DrawnOrgan::wet as uploaded; empty: the organ has none
    std::uint32_t topology = 0;
    bool marked = true;        // burnt or wet somewhere
    unsigned drawn_from = 0;   // the backend's buffer of positions; 0: our own
    float longest_edge = 0.f;  // m
    bool one_sided = false;    // closed, with outward faces: back faces need not be drawn
  };
  // The vessels of an organ as it was when the layer was made.
  struct Vessels {
    Texture texture;
    glm::vec3 low{0.f}, scale{1.f};  // m, 1 / m
  };
  static Organ make_organ(const DrawnOrgan& drawn);
  static void set_absent_attributes(const Organ& organ);
  // The program for an organ. The first picture at a quality uses the one for marks, so that the driver has prepared it
  // before the first mark.
  Shader& tissue_program(std::size_t organ, bool fine);
  static Vessels make_vessels(const DrawnOrgan& drawn, std::uint32_t seed);
  void draw_faces(const Organ& organ, const DrawnOrgan& drawn, std::span<const glm::uvec3> faces);

  std::vector<Organ> organs_;                    // [organ]
  std::vector<std::optional<Vessels>> vessels_;  // [organ] only pale organs show vessels
  // [high quality][vessels][marked], compiled at first use
  std::array<std::array<std::array<std::optional<Shader>, 2>, 2>, 2> tissue_;
  Shader touched_{"touched", "touched.vert", {"touched.frag"}};
  Shader shadow_{"shadow", "shadow.vert", {"shadow.frag"}};
  gl::VertexArray some_array_ = gl::make_vertex_array();
  gl::Buffer some_faces_ = gl::make_buffer();
  std::vector<glm::uvec3> picked_;
  std::vector<std::uint8_t> flags_;
};

}  // namespace trocar
