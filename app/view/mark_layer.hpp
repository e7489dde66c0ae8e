// Draws a task's marks with OpenGL.   Tested in tests/app/view_test.cpp
#pragma once

#include <vector>

#include "app/view/drawn.hpp"
#include "app/view/gl_shape.hpp"
#include "app/view/mark_shape.hpp"

namespace trocar {

class MarkLayer {
 public:
  MarkLayer();
  // Draws the marks on the tissue; needs the tissue's depth buffer.
  void draw_on_tissue(const DrawnMarks& marks, std::span<const DrawnOrgan> organs, double time);
  // Draws the zones over the picture. scale: ReducedPicture::scale; pixel: size of a pixel, half heights.
  void draw_zones(const DrawnMarks& marks, float scale, float pixel);

 private:
  struct Zone {
    std::vector<glm::dvec2> outline;
    ZoneShape shape;
  };
  const ZoneShape& shape_of(std::size_t zone, std::span<const glm::dvec2> outline);
  void draw_zone(std::span<const ZoneVertex> vertices, const glm::vec4& colour, float hatch, float half_width);

  Shader decal_{"decal", "decal.vert", {"decal.frag"}}, zone_{"zone", "zone.vert", {"zone.frag"}};
  gl::VertexArray decal_array_ = gl::make_vertex_array(), zone_array_ = gl::make_vertex_array();
  gl::Buffer decals_ = gl::make_buffer(), zone_vertices_ = gl::make_buffer();
  std::vector<DecalSegment> segments_;
  std::vector<DecalVertex> vertices_;
  std::vector<Zone> zones_;  // [zone] of the last picture: a shape is rebuilt when its outline changes
};

}  // namespace trocar
