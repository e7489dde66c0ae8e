#include "geometry/planar/convex_line.hpp"

#include <algorithm>

namespace trocar::planar {
namespace {

// Between corners `from` and `to` the height over the line is monotone: the side on which it first reaches zero. `sign`
// is 1 when the height rises.
std::uint32_t crossing_side(Corners c, const Segment& line, std::uint32_t from, std::uint32_t to, int sign) {
  const auto n = static_cast<std::uint32_t>(c.size());
  std::uint32_t low = 0, high = (to + n - from) % n;  // before zero at low, at or past it at high
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    (sign * side_of_line(line.a, line.b, c[(from + middle) % n]) < 0 ? low : high) = middle;
  }
  return (from + low) % n;
}

dvec2 crossing_point(Corners c, const Segment& line, std::uint32_t side) {
  const Segment edge{c[side], c[side + 1 < c.size() ? side + 1 : 0]};
  if (side_of_line(line.a, line.b, edge.b) == 0) return edge.b;
  const dvec2 along = line.b - line.a;
  const double from_a = std::abs(cross(along, edge.a - line.a)), from_b = std::abs(cross(along, edge.b - line.a));
  return point_at(edge, from_a + from_b > 0.0 ? from_a / (from_a + from_b) : 0.5);
}

LineHit touching(Corners c, const Segment& line, const FarCorners& far) {
  if (far.first == far.last) return {LineMeeting::Corner, c[far.first], c[far.first], far.first, far.first};
  const bool forward = dot_sign(line.a, line.b, c[far.first], c[far.last]) > 0;
  return {LineMeeting::Side, c[forward ? far.first : far.last], c[forward ? far.last : far.first], far.first,
          far.first};
}

// Handles a line that touches the polygon only along its boundary: compares the ends along the line, exactly.
SegmentInside inside_touching(const LineHit& hit, const Segment& s) {
  if (dot_sign(s.a, s.b, s.b, hit.enter) > 0 || dot_sign(s.a, s.b, s.a, hit.leave) < 0) return {};
  return {true, nearest_parameter(s, hit.enter), nearest_parameter(s, hit.leave)};
}

}  // namespace

LineHit line_hit(const ConvexView& polygon, const Segment& line) {
  if (line.a == line.b) return {};
  const Corners c = polygon.corners;
  const FarCorners left = farthest_left(polygon, line.a, line.b), right = farthest_left(polygon, line.b, line.a);
  const int highest = side_of_line(line.a, line.b, c[left.first]),
            lowest = side_of_line(line.a, line.b, c[right.first]);
  if (highest < 0 || lowest > 0) return {};
  if (highest == 0) return touching(c, line, left);
  if (lowest == 0) return touching(c, line, right);
  // The outline is counter-clockwise: it rises above the line where the line leaves, and falls below where it enters.
  const std::uint32_t leave = crossing_side(c, line, right.last, left.first, 1),
                      enter = crossing_side(c, line, left.last, right.first, -1);
  return {LineMeeting::Through, crossing_point(c, line, enter), crossing_point(c, line, leave), enter, leave};
}

SegmentInside segment_inside(const ConvexView& polygon, const Segment& segment) {
  if (segment.a == segment.b) return {contains(polygon, segment.a), 0.0, 0.0};
  const LineHit hit = line_hit(polygon, segment);
  if (hit.kind == LineMeeting::None) return {};
  if (hit.kind != LineMeeting::Through) return inside_touching(hit, segment);
  const Corners c = polygon.corners;
  const auto inside_of = [&](std::uint32_t side, const dvec2& p) {
    return side_of_line(c[side], c[side + 1 < c.size() ? side + 1 : 0], p) >= 0;
  };
  // The segment starts after the inside stretch, or ends before it.
  if (!inside_of(hit.leave_side, segment.a) || !inside_of(hit.enter_side, segment.b)) return {};
  const double enter = inside_of(hit.enter_side, segment.a) ? 0.0 : nearest_parameter(segment, hit.enter);
  const double leave = inside_of(hit.leave_side, segment.b) ? 1.0 : nearest_parameter(segment, hit.leave);
  return {true, std::min(enter, leave), leave};
}

}  // namespace trocar::planar
