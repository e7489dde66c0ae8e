#include "app/view/mark_layer.hpp"

#include <glad/gl.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "geometry/planar/polygon.hpp"

namespace trocar {
namespace {

constexpr float kLongestZoneEdge = 0.12f;  // half heights: the lens bends a line of this length by less than a pixel
constexpr float kRim = 0.0006f;            // m    width of the dark rim on either side of a ribbon

// The colours are from Okabe and Ito, "Color universal design", 2008: white, sky blue (brightened), bluish green,
// vermillion. `done`, `waiting`: opacity in these states.
glm::vec4 paint_of(MarkState state, float done = 0.85f, float waiting = 0.95f) {
  switch (state) {
    case MarkState::Next:
      return {0.38f, 0.92f, 1.0f, 1.0f};
    case MarkState::Done:
      return {0.0f, 0.62f, 0.45f, done};
    case MarkState::Error:
      return {1.0f, 0.50f, 0.08f, 1.0f};
    default:
      return {0.96f, 0.96f, 0.93f, waiting};
  }
}

// The next mark pulses with a period of 1.2 s. Returns -1 to 1.
float pulse(double time) { return static_cast<float>(std::sin(time * 2.0 * 3.14159265 / 1.2)); }

MarkStyle style_of(MarkState state) {
  switch (state) {
    case MarkState::Next:
      return MarkStyle::Next;
    case MarkState::Done:
      return MarkStyle::Done;
    case MarkState::Error:
      return MarkStyle::Error;
    default:
      return MarkStyle::Waiting;
  }
}

void add_path(const DrawnPath& path, float radius, bool rim, std::vector<DecalSegment>& segments) {
  for (std::size_t k = 0; k + 1 < path.points.size(); ++k) {
    const glm::vec4 paint =
        rim ? glm::vec4(0.05f, 0.05f, 0.08f, 1.f)
            : paint_of(k + 1 < path.done || path.state == MarkState::Done ? MarkState::Done : path.state);
    segments.push_back({path.points[k], path.points[k + 1], radius, MarkStyle::Ribbon, {glm::vec3(paint), 1.f}});
  }
}

float squared_distance(const glm::vec3& p, const glm::vec3& a, const glm::vec3& b) {
  const glm::vec3 axis = b - a;
  const float t = std::clamp(glm::dot(p - a, axis) / std::max(glm::dot(axis, axis), 1e-12f), 0.f, 1.f);
  const glm::vec3 r = p - a - t * axis;
  return glm::dot(r, r);
}

struct Corner {
  glm::vec2 a, b, c;
};

// Halves the longest edge until none is too long; neighbours halve a common edge at the same point.
void add_triangle(const Corner& t, std::vector<ZoneVertex>& out) {
  const float ab = glm::distance(t.a, t.b), bc = glm::distance(t.b, t.c), ca = glm::distance(t.c, t.a);
  const float longest = std::max({ab, bc, ca});
  if (longest <= kLongestZoneEdge) {
    for (const glm::vec2& p : {t.a, t.b, t.c}) out.push_back({p, glm::vec2(0.f)});
  } else if (longest == ab) {
    const glm::vec2 middle = 0.5f * (t.a + t.b);
    add_triangle({t.a, middle, t.c}, out);
    add_triangle({middle, t.b, t.c}, out);
  } else if (longest == bc) {
    add_triangle({t.b, t.c, t.a}, out);
  } else {
    add_triangle({t.c, t.a, t.b}, out);
  }
}

void add_side(const glm::vec2& a, const glm::vec2& b, std::vector<ZoneVertex>& out) {
  const float length = glm::distance(a, b);
  if (!(length > 0.f)) return;
  const glm::vec2 along = (b - a) / length, aside(-along.y, along.x);
  const int pieces = static_cast<int>(std::ceil(length / kLongestZoneEdge));
  for (int k = 0; k < pieces; ++k) {
    const glm::vec2 from = glm::mix(a, b, static_cast<float>(k) / static_cast<float>(pieces));
    const glm::vec2 to = glm::mix(a, b, static_cast<float>(k + 1) / static_cast<float>(pieces));
    for (const ZoneVertex& vertex : std::array<ZoneVertex, 6>{
             {{from, -aside}, {to, -aside}, {to, aside}, {from, -aside}, {to, aside}, {from, aside}}})
      out.push_back(vertex);
  }
}

}  // namespace

void mark_segments(const DrawnMarks& marks, double time, std::vector<DecalSegment>& segments) {
  segments.clear();
  for (const DrawnTarget& target : marks.targets) {
    // The radius of the mark changes by 12 %, its brightness by 6 %.
    const float beat = target.state == MarkState::Next ? pulse(time) : 0.f;
    glm::vec4 paint = paint_of(target.state);
    paint *= glm::vec4(glm::vec3(0.94f + 0.06f * beat), 1.f);
    segments.push_back(
        {target.location, target.location, target.radius * (1.f + 0.12f * beat), style_of(target.state), paint});
  }
  for (const DrawnPath& path : marks.paths) {
    add_path(path, 0.5f * path.width + kRim, true, segments);
    add_path(path, 0.5f * path.width, false, segments);
  }
}

void add_decals(std::span<const DecalSegment> segments, const MeshView& mesh, std::vector<DecalVertex>& vertices) {
  if (segments.empty()) return;
  glm::vec3 low(1e9f), high(-1e9f);
  for (const DecalSegment& s : segments) {
    low = glm::min(low, glm::min(s.begin, s.end) - s.radius);
    high = glm::max(high, glm::max(s.begin, s.end) + s.radius);
  }
  struct Near {
    glm::uvec3 face;
    glm::vec3 centre;
    float radius;
  };
  thread_local std::vector<Near> candidates;
  candidates.clear();
  for (const glm::uvec3& face : mesh.faces) {
    const glm::vec3 &a = mesh.positions[face.x], &b = mesh.positions[face.y], &c = mesh.positions[face.z];
    if (glm::any(glm::lessThan(glm::max(glm::max(a, b), c), low))) continue;
    if (glm::any(glm::greaterThan(glm::min(glm::min(a, b), c), high))) continue;
    const glm::vec3 centre = (a + b + c) / 3.f;
    const float radius = std::sqrt(std::max(
        {glm::dot(a - centre, a - centre), glm::dot(b - centre, b - centre), glm::dot(c - centre, c - centre)}));
    candidates.push_back({face, centre, radius});
  }
  for (const DecalSegment& s : segments) {
    const glm::vec4 begin(s.begin, s.radius), end(s.end, static_cast<float>(s.style));
    const glm::vec3 middle = 0.5f * (s.begin + s.end);
    const float half = 0.5f * glm::distance(s.begin, s.end) + s.radius;
    for (const Near& near : candidates) {
      const glm::vec3 r = near.centre - middle;
      const float bound = half + near.radius, exact = s.radius + near.radius;
      if (glm::dot(r, r) > bound * bound || squared_distance(near.centre, s.begin, s.end) > exact * exact) continue;
      for (int corner = 0; corner < 3; ++corner)
        vertices.push_back({mesh.positions[near.face[corner]], begin, end, s.paint});
    }
  }
}

ZoneShape make_zone_shape(std::span<const glm::dvec2> outline) {
  ZoneShape shape;
  for (std::size_t k = 0; k < outline.size(); ++k)
    add_side(outline[k], outline[(k + 1) % outline.size()], shape.outline);
  if (!planar::simple_fault(outline).empty()) return shape;
  for (const planar::CornerTriangle& t : planar::triangulate(outline))
    add_triangle({outline[t[0]], outline[t[1]], outline[t[2]]}, shape.inside);
  return shape;
}

namespace {

constexpr float kStroke = 0.13f;                         // half width of a stroke; a digit is 1 wide and 1.5 high
constexpr float kMargin = 0.25f;                         // around a digit in its layer
constexpr float kSoft = 0.30f;                           // distance over which a byte changes from 255 to 0
constexpr float kRing = 1.35f;                           // radius of the ring, in radii of the target
constexpr float kLeastDisc = 0.036f, kDiscPixels = 9.f;  // half heights, pixels: the smallest radius of a disc
constexpr float kMostTowards = 0.01f;                    // m  labels lie at most so far in front of their target
constexpr float kDisc = 0.0022f;                         // m  smallest radius of a disc

using Stroke = std::vector<glm::vec2>;

// An arc as a polyline, counter-clockwise for a rising angle.
Stroke arc(const glm::vec2& centre, const glm::vec2& radii, float from_deg, float to_deg) {
  constexpr int kPieces = 20;
  Stroke stroke;
  for (int k = 0; k <= kPieces; ++k) {
    const float angle = glm::radians(from_deg + (to_deg - from_deg) * static_cast<float>(k) / kPieces);
    stroke.push_back(centre + radii * glm::vec2(std::cos(angle), std::sin(angle)));
  }
  return stroke;
}

Stroke turned(Stroke stroke) {
  for (glm::vec2& p : stroke) p = glm::vec2(1.f, 1.5f) - p;
  return stroke;
}

Stroke joined(Stroke first, const Stroke& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::vector<Stroke> strokes_of(int digit) {
  const Stroke loop = arc({0.5f, 0.46f}, {0.5f, 0.46f}, 0.f, 360.f);
  const Stroke stem = arc({0.95f, 0.46f}, {0.95f, 1.04f}, 100.f, 180.f);
  switch (digit) {
    case 0:
      return {arc({0.5f, 0.75f}, {0.5f, 0.75f}, 0.f, 360.f)};
    case 1:
      return {{{0.12f, 1.15f}, {0.55f, 1.5f}, {0.55f, 0.f}}};
    case 2:
      return {joined(arc({0.5f, 1.05f}, {0.48f, 0.45f}, 165.f, -30.f), {{0.f, 0.f}, {1.f, 0.f}})};
    case 3:
      return {arc({0.45f, 1.12f}, {0.48f, 0.38f}, 150.f, -90.f), arc({0.45f, 0.37f}, {0.55f, 0.37f}, 90.f, -150.f)};
    case 4:
      return {{{0.75f, 0.f}, {0.75f, 1.5f}, {0.f, 0.42f}, {1.f, 0.42f}}};
    case 5:
      return {
          joined({{0.92f, 1.5f}, {0.16f, 1.5f}, {0.09f, 0.83f}}, arc({0.45f, 0.48f}, {0.55f, 0.48f}, 132.f, -150.f))};
    case 6:
      return {loop, stem};
    case 7:
      return {{{0.f, 1.5f}, {1.f, 1.5f}, {0.35f, 0.f}}};
    case 8:
      return {arc({0.5f, 1.12f}, {0.42f, 0.38f}, 0.f, 360.f), arc({0.5f, 0.37f}, {0.5f, 0.37f}, 0.f, 360.f)};
    default:
      return {turned(loop), turned(stem)};
  }
}

float distance_from(const glm::vec2& p, const Stroke& stroke) {
  float least = 1e9f;
  for (std::size_t k = 0; k + 1 < stroke.size(); ++k) {
    const glm::vec2 axis = stroke[k + 1] - stroke[k];
    const float share = std::clamp(glm::dot(p - stroke[k], axis) / std::max(glm::dot(axis, axis), 1e-9f), 0.f, 1.f);
    least = std::min(least, glm::distance(p, stroke[k] + share * axis));
  }
  return least;
}

constexpr float kClear = 1.5f;  // radii of a disc around a tip that stay clear
constexpr float kFaint = 0.2f;  // opacity of a label there

struct Label {
  glm::vec3 centre;
  float radius;
  glm::vec2 shift;
  float towards;
  LabelStyle style;
  int number;
  glm::vec4 paint;
};

void add_label(const Label& label, std::vector<LabelVertex>& vertices) {
  constexpr std::array<glm::vec2, 6> kCorners{{{-1, -1}, {1, -1}, {1, 1}, {-1, -1}, {1, 1}, {-1, 1}}};
  for (const glm::vec2& corner : kCorners)
    vertices.push_back({{label.centre, label.radius},
                        {corner, static_cast<float>(label.style), static_cast<float>(label.number)},
                        {label.shift, label.towards, 0.f},
                        label.paint});
}

}  // namespace

void label_vertices(const DrawnMarks& marks, std::span<const glm::vec3> tips, const ScopePose& scope, double time,
                    float pixel, std::vector<LabelVertex>& vertices) {
  vertices.clear();
  const ScopeAxes axes = axes_of(scope);
  const glm::vec3 eye(scope.eye), forward(axes.forward);
  // Where a point is in the picture, with a depth of 1.
  const auto in_picture = [&](const glm::vec3& point) {
    const glm::vec3 away = point - eye;
    return glm::vec2(glm::dot(away, glm::vec3(axes.right)), glm::dot(away, glm::vec3(axes.up))) /
           glm::dot(away, forward);
  };
  const auto half_height =
      static_cast<float>(std::tan(0.5 * glm::radians(static_cast<double>(scope.field_of_view_deg))));
  for (const DrawnTarget& target : marks.targets) {
    const float depth = glm::dot(target.location - eye, forward);
    if (target.number < 1 || target.number > 99 || depth <= 0.f) continue;
    const bool now = target.state == MarkState::Next;
    const float beat = now ? 0.06f * pulse(time) : 0.f;
    const float ring = target.radius * (kRing + beat);
    const float disc =
        std::max(kDisc, std::max(kLeastDisc, kDiscPixels * pixel) * depth * half_height) * (now ? 1.15f : 1.f);
    const glm::vec4 paint = paint_of(target.state, 0.75f, 0.85f);
    // In front of the tissue around the target, which may be steep.
    const float towards = std::min(2.f * target.radius, kMostTowards);
    if (now || target.state == MarkState::Error)
      add_label({target.location, ring, glm::vec2(0.f), towards, LabelStyle::Ring, 0, paint}, vertices);
    const glm::vec2 beside(0.7071f * (target.radius * kRing + disc));
    const glm::vec2 middle = in_picture(target.location) + beside / depth;
    glm::vec4 number = paint;
    for (const glm::vec3& tip : tips)
      if (glm::dot(tip - eye, forward) > 0.f && glm::distance(in_picture(tip), middle) < kClear * disc / depth)
        number.a = std::min(number.a, kFaint);
    add_label({target.location, disc, beside, towards, LabelStyle::Number, target.number, number}, vertices);
  }
}

std::vector<std::uint8_t> make_digits() {
  std::vector<std::uint8_t> texels;
  texels.reserve(static_cast<std::size_t>(kDigitTexels.x) * static_cast<std::size_t>(kDigitTexels.y) *
                 static_cast<std::size_t>(kDigitTexels.z));
  const glm::vec2 size(1.f + 2.f * kMargin, 1.5f + 2.f * kMargin);
  for (int digit = 0; digit < kDigitTexels.z; ++digit) {
    const std::vector<Stroke> strokes = strokes_of(digit);
    for (int y = 0; y < kDigitTexels.y; ++y) {
      for (int x = 0; x < kDigitTexels.x; ++x) {
        const glm::vec2 share((static_cast<float>(x) + 0.5f) / static_cast<float>(kDigitTexels.x),
                              (static_cast<float>(y) + 0.5f) / static_cast<float>(kDigitTexels.y));
        float least = 1e9f;
        for (const Stroke& stroke : strokes) least = std::min(least, distance_from(share * size - kMargin, stroke));
        const float byte = 128.f + 255.f * (kStroke - least) / kSoft;
        texels.push_back(static_cast<std::uint8_t>(std::clamp(byte, 0.f, 255.f)));
      }
    }
  }
  return texels;
}

MarkLayer::MarkLayer() {
  glBindVertexArray(decal_array_.name());
  constexpr int kStride = sizeof(DecalVertex);
  vertex_attribute(0, decals_.name(), 3, kStride, offsetof(DecalVertex, position));
  vertex_attribute(1, decals_.name(), 4, kStride, offsetof(DecalVertex, begin_radius));
  vertex_attribute(2, decals_.name(), 4, kStride, offsetof(DecalVertex, end_style));
  vertex_attribute(3, decals_.name(), 4, kStride, offsetof(DecalVertex, paint));
  glBindVertexArray(zone_array_.name());
  vertex_attribute(0, zone_vertices_.name(), 2, sizeof(ZoneVertex), offsetof(ZoneVertex, location));
  vertex_attribute(1, zone_vertices_.name(), 2, sizeof(ZoneVertex), offsetof(ZoneVertex, aside));
  glBindVertexArray(0);
}

void MarkLayer::draw_on_tissue(const DrawnMarks& marks, std::span<const DrawnOrgan> organs, double time) {
  mark_segments(marks, time, segments_);
  vertices_.clear();
  for (const DrawnOrgan& organ : organs) add_decals(segments_, {organ.positions, organ.rest.faces}, vertices_);
  if (vertices_.empty()) return;
  decal_.use();
  glBindVertexArray(decal_array_.name());
  fill_vertices(decals_, std::as_bytes(std::span(vertices_)), true);
  glDrawArrays(GL_TRIANGLES, 0, static_cast<GLsizei>(vertices_.size()));
}

const ZoneShape& MarkLayer::shape_of(std::size_t zone, std::span<const glm::dvec2> outline) {
  if (zones_.size() <= zone) zones_.resize(zone + 1);
  Zone& known = zones_[zone];
  if (!std::equal(known.outline.begin(), known.outline.end(), outline.begin(), outline.end())) {
    known.outline.assign(outline.begin(), outline.end());
    known.shape = make_zone_shape(outline);
  }
  return known.shape;
}

void MarkLayer::draw_zone(std::span<const ZoneVertex> vertices, const glm::vec4& colour, float hatch,
                          float half_width) {
  if (vertices.empty()) return;
  zone_.set("colour", colour);
  zone_.set("hatch", hatch);
  zone_.set("half_width", half_width);
  fill_vertices(zone_vertices_, std::as_bytes(vertices), true);
  glDrawArrays(GL_TRIANGLES, 0, static_cast<GLsizei>(vertices.size()));
}

void MarkLayer::draw_zones(const DrawnMarks& marks, float scale, float pixel) {
  if (marks.zones.empty()) return;
  zone_.use();
  zone_.set("scale", scale);
  glBindVertexArray(zone_array_.name());
  for (std::size_t k = 0; k < marks.zones.size(); ++k) {
    const DrawnZone& zone = marks.zones[k];
    const ZoneShape& shape = shape_of(k, zone.outline);
    // A zone is drawn in Okabe and Ito's orange; a violated one in vermillion, denser and with a broader outline.
    const glm::vec3 colour = zone.violated ? glm::vec3(0.95f, 0.32f, 0.02f) : glm::vec3(0.90f, 0.62f, 0.0f);
    const float line = std::max(0.0025f * (zone.violated ? 2.f : 1.f), pixel);
    draw_zone(shape.inside, glm::vec4(colour, zone.violated ? 0.55f : 0.30f), 0.035f / pixel, 0.f);
    draw_zone(shape.outline, glm::vec4(0.05f, 0.04f, 0.02f, 0.6f), 0.f, 2.f * line);
    draw_zone(shape.outline, glm::vec4(colour, 1.f), 0.f, line);
  }
}

namespace {

constexpr unsigned kDigitUnit = 1;  // the tissue's grain is bound to 0

}  // namespace

LabelLayer::LabelLayer() {
  glBindVertexArray(array_.name());
  constexpr int kStride = sizeof(LabelVertex);
  vertex_attribute(0, buffer_.name(), 4, kStride, offsetof(LabelVertex, centre_radius));
  vertex_attribute(1, buffer_.name(), 4, kStride, offsetof(LabelVertex, corner_style_number));
  vertex_attribute(2, buffer_.name(), 4, kStride, offsetof(LabelVertex, shift_towards));
  vertex_attribute(3, buffer_.name(), 4, kStride, offsetof(LabelVertex, paint));
  glBindVertexArray(0);
}

void LabelLayer::draw(const DrawnMarks& marks, std::span<const DrawnTool> tools, const ScopePose& scope, double time,
                      float pixel) {
  tips_.clear();
  for (const DrawnTool& tool : tools)
    if (!tool.ghost) tips_.emplace_back(tool.pose.tip);
  label_vertices(marks, tips_, scope, time, pixel, vertices_);
  if (vertices_.empty()) return;
  shader_.use();
  shader_.set("digits", static_cast<int>(kDigitUnit));
  bind_volume(digits_, kDigitUnit);
  glBindVertexArray(array_.name());
  fill_vertices(buffer_, std::as_bytes(std::span(vertices_)), true);
  glDrawArrays(GL_TRIANGLES, 0, static_cast<GLsizei>(vertices_.size()));
}

}  // namespace trocar
