#include "app/view/mark_shape.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "geometry/planar/polygon.hpp"

namespace trocar {
namespace {

constexpr float kLongestZoneEdge = 0.12f;  // half heights: the lens bends a line of this length by less than a pixel
constexpr float kRim = 0.0006f;            // m    width of the dark rim on either side of a ribbon

// The colours are from Okabe and Ito, "Color universal design", 2008: white, sky blue (brightened), bluish green,
// vermillion.
glm::vec4 paint_of(MarkState state) {
  switch (state) {
    case MarkState::Next:
      return {0.38f, 0.92f, 1.0f, 1.0f};
    case MarkState::Done:
      return {0.0f, 0.62f, 0.45f, 0.85f};
    case MarkState::Error:
      return {1.0f, 0.50f, 0.08f, 1.0f};
    default:
      return {0.96f, 0.96f, 0.93f, 0.95f};
  }
}

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
    // The mark pulses with a period of 1.2 s: its radius changes by 12 %, its brightness by 6 %.
    const float beat =
        target.state == MarkState::Next ? static_cast<float>(std::sin(time * 2.0 * 3.14159265 / 1.2)) : 0.f;
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

}  // namespace trocar
