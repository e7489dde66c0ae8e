#include "geometry/planar/zone.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trocar::planar {
namespace {

dvec2 to_image(const ImageCamera& camera, const glm::dvec4& clip) {
  return {camera.aspect * clip.x / clip.w, clip.y / clip.w};
}

}  // namespace

ImageTool project_tool(const ImageCamera& camera, const glm::dvec3& pivot, const glm::dvec3& tip) {
  glm::dvec4 a = camera.view_projection * glm::dvec4(pivot, 1.0), b = camera.view_projection * glm::dvec4(tip, 1.0);
  const double before_a = a.z + a.w, before_b = b.z + b.w;  // >= 0 in front of the near plane
  if (before_a < 0.0 && before_b < 0.0) return {};
  if (before_a < 0.0 || before_b < 0.0) {
    const glm::dvec4 cut = a + before_a / (before_a - before_b) * (b - a);
    (before_a < 0.0 ? a : b) = cut;
  }
  // With a camera that has no near plane, points can lie at or behind the eye.
  if (!(a.w > 0.0) || !(b.w > 0.0)) return {};
  const Segment shaft{to_image(camera, a), to_image(camera, b)};
  if (!std::isfinite(shaft.a.x + shaft.a.y + shaft.b.x + shaft.b.y)) return {};
  return {true, before_b >= 0.0, shaft};
}

namespace {

struct Extent {
  dvec2 low, high;
};

Extent extent(const ConvexView& piece) {
  const auto end = [&](int axis) { return piece.corners[piece.axis_ends[axis].first]; };
  return {{end(2).x, end(3).y}, {end(0).x, end(1).y}};
}

double extent_distance(const Extent& a, const Extent& b) {
  return glm::length(glm::max(glm::max(a.low - b.high, b.low - a.high), dvec2(0.0)));
}

Segment side(Corners c, std::size_t i) { return {c[i], c[i + 1 < c.size() ? i + 1 : 0]}; }

// Returns the depth of a point inside the zone: its distance to the outline.
ZoneDistance depth_of(Corners outline, const dvec2& p) {
  ZoneDistance nearest{std::numeric_limits<double>::infinity(), p, p};
  for (std::size_t i = 0; i < outline.size(); ++i) {
    const dvec2 on_zone = nearest_point(side(outline, i), p);
    const double far = glm::length(p - on_zone);
    if (far < nearest.distance) nearest = {far, p, on_zone};
  }
  return nearest;
}

// Returns an upper bound of the depth on a stretch: along it the distance to one side is convex, so the two ends bound
// it.
double depth_bound(Corners outline, const dvec2& from, const dvec2& to) {
  double bound = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < outline.size(); ++i) {
    const Segment s = side(outline, i);
    bound = std::min(bound, std::max(distance(s, from), distance(s, to)));
  }
  return bound;
}

// Finds by bisection the deepest point of a stretch inside the zone, if it is deeper than `deepest`.
void search_depth(Corners outline, const Segment& stretch, ZoneDistance& deepest) {
  struct Part {
    double from, to;
  };
  // Bisection stops at the tolerance or at adjacent doubles, so the stack never exceeds the digits of a double.
  std::array<Part, 64> open{{{0.0, 1.0}}};
  for (int count = 1; count > 0;) {
    const Part part = open[--count];
    const double middle = 0.5 * (part.from + part.to);
    if (depth_bound(outline, point_at(stretch, part.from), point_at(stretch, part.to)) <=
            deepest.distance + kDepthTolerance ||
        middle <= part.from || middle >= part.to)
      continue;
    if (const ZoneDistance here = depth_of(outline, point_at(stretch, middle)); here.distance > deepest.distance)
      deepest = here;
    open[count++] = {part.from, middle};
    open[count++] = {middle, part.to};
  }
}

ZoneDistance as_depth(ZoneDistance found) {
  found.distance = -found.distance;
  return found;
}

// Returns the nearest pair between a point or segment and the pieces; distance 0 when it meets one of them.
ConvexGap nearest_gap(std::span<const ConvexPolygon> pieces, const ConvexView& tool) {
  const Extent around = extent(tool);
  ConvexGap nearest{false, std::numeric_limits<double>::infinity()};
  for (const ConvexPolygon& piece : pieces) {
    if (extent_distance(extent(piece.view()), around) >= nearest.distance) continue;
    const ConvexGap gap = convex_gap(piece.view(), tool);
    if (gap.meet) return gap;
    if (gap.distance < nearest.distance) nearest = gap;
  }
  return nearest;
}

}  // namespace

Zone::Zone(Corners outline, ZoneKind kind) : outline_(outline.begin(), outline.end()), kind_(kind) {
  const ConvexPieces parts = convex_pieces(outline);
  std::vector<dvec2> corners;
  for (std::size_t i = 0; i < parts.count(); ++i) {
    corners.clear();
    for (std::uint32_t k = parts.start[i]; k < parts.start[i + 1]; ++k) corners.push_back(outline[parts.corner[k]]);
    pieces_.emplace_back(corners);
  }
}

bool Zone::contains(const dvec2& p) const {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [&](const ConvexPolygon& piece) { return planar::contains(piece.view(), p); });
}

ZoneDistance Zone::distance(const dvec2& p) const {
  const ConvexGap gap = nearest_gap(pieces_, convex_view({&p, 1}));
  if (gap.meet) return as_depth(depth_of(outline_, p));
  return {gap.distance, gap.on_second, gap.on_first};
}

ZoneDistance Zone::distance(const Segment& shaft) const {
  if (shaft.a == shaft.b) return distance(shaft.a);
  const std::array<dvec2, 2> ends{shaft.a, shaft.b};
  const ConvexGap gap = nearest_gap(pieces_, convex_view(ends));
  if (!gap.meet) return {gap.distance, gap.on_second, gap.on_first};
  ZoneDistance deepest{-1.0};
  for (const ConvexPolygon& piece : pieces_) {
    const SegmentInside inside = segment_inside(piece.view(), shaft);
    if (!inside.meets) continue;
    const Segment stretch{point_at(shaft, inside.enter), point_at(shaft, inside.leave)};
    for (const dvec2& end : {stretch.a, stretch.b}) {
      if (const ZoneDistance here = depth_of(outline_, end); here.distance > deepest.distance) deepest = here;
    }
    search_depth(outline_, stretch, deepest);
  }
  return as_depth(deepest);
}

}  // namespace trocar::planar
