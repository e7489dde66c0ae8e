// Computes and draws a task's marks. Targets and paths are decals on the faces of the tissue: they deform with it and
// are occluded like it. Labels face the eye: a ring around the next target, and a disc with its number beside each.
// Zones are triangles and an outline in the picture. States differ in colour (Okabe and Ito's palette), shape and
// brightness. Units: metres; zones in half heights.   Tested in tests/app/view_test.cpp; drawing in
// tests/app/view_test.cpp
#pragma once

#include <cstdint>
#include <vector>

#include "app/view/drawn.hpp"
#include "app/view/gl_shape.hpp"
#include "geometry/mesh_view.hpp"
#include "sim/scene/scope.hpp"
#include "sim/task/observation.hpp"

namespace trocar {

// The numbers are those of shaders/decal.glsl.
enum class MarkStyle { Ribbon, Waiting, Next, Done, Error };

// A segment (of a path) or a point (a target, begin = end), painted on all tissue within `radius` of it.
struct DecalSegment {
  glm::vec3 begin{0.f}, end{0.f};  // m
  float radius = 0.f;              // m
  MarkStyle style = MarkStyle::Ribbon;
  glm::vec4 paint{1.f};  // display colour and opacity
};
// Overwrites `segments` with those of the targets in order, then of the paths, each with its rim first. `time`: s, of
// the pulse.
void mark_segments(const DrawnMarks& marks, double time, std::vector<DecalSegment>& segments);

struct DecalVertex {
  glm::vec3 position;
  glm::vec4 begin_radius, end_style, paint;
};
// For each segment, in order, appends every face within its radius. The test uses the face's bounding sphere.
void add_decals(std::span<const DecalSegment> segments, const MeshView& mesh, std::vector<DecalVertex>& vertices);

// A vertex at `place` in the pinhole picture. `aside`: unit vector across the outline, zero inside.
struct ZoneVertex {
  glm::vec2 location, aside;
};
struct ZoneShape {
  std::vector<ZoneVertex> inside, outline;  // triangles, short enough for a lens that bends lines
};
// Computes the triangles of a zone. If the outline is not a simple polygon, `inside` is empty.
ZoneShape make_zone_shape(std::span<const glm::dvec2> outline);

// The numbers are those of shaders/label.glsl.
enum class LabelStyle { Ring, Number };

// A vertex of the two triangles of a label; the shader turns them towards the eye.
struct LabelVertex {
  glm::vec4 centre_radius;        // m
  glm::vec4 corner_style_number;  // 1; corner: -1 .. 1 in the label, right and up
  glm::vec4 shift_towards;        // m  right and up of the centre; towards the eye
  glm::vec4 paint;                // display colour and opacity
};

// Overwrites `vertices` with the labels of the targets that have a number. `tips`: m, of the instruments: a label in
// front of one is nearly transparent. `time`: s, of the pulse. `pixel`: half heights. A disc is large enough for its
// number to be readable.
void label_vertices(const DrawnMarks& marks, std::span<const glm::vec3> tips, const ScopePose& scope, double time,
                    float pixel, std::vector<LabelVertex>& vertices);

// The volume of the digits: one layer for each of 0 .. 9, seen from the front, rows from the bottom.
constexpr glm::ivec3 kDigitTexels{32, 48, 10};
// Returns the distance of each texel from the edge of the strokes: 128 there, larger inside.   [digit][row][column]
std::vector<std::uint8_t> make_digits();

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

  Shader decal_{"decal", "decal.glsl", {"decal.glsl"}}, zone_{"zone", "zone.glsl", {"zone.glsl"}};
  gl::VertexArray decal_array_ = gl::make_vertex_array(), zone_array_ = gl::make_vertex_array();
  gl::Buffer decals_ = gl::make_buffer(), zone_vertices_ = gl::make_buffer();
  std::vector<DecalSegment> segments_;
  std::vector<DecalVertex> vertices_;
  std::vector<Zone> zones_;  // [zone] of the last picture: a shape is rebuilt when its outline changes
};

class LabelLayer {
 public:
  LabelLayer();
  // Draws over the tissue, blended; what lies in front hides the labels.
  // `tools`: whose tips stay visible; `pixel`: half heights.
  void draw(const DrawnMarks& marks, std::span<const DrawnTool> tools, const ScopePose& scope, double time,
            float pixel);

 private:
  Shader shader_{"label", "label.glsl", {"label.glsl"}};
  gl::VertexArray array_ = gl::make_vertex_array();
  gl::Buffer buffer_ = gl::make_buffer();
  Texture digits_ = make_byte_volume(kDigitTexels, make_digits());
  std::vector<LabelVertex> vertices_;
  std::vector<glm::vec3> tips_;
};

}  // namespace trocar
