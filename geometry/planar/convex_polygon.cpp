#include "geometry/planar/convex_polygon.hpp"

#include <algorithm>
#include <optional>

#include "geometry/error.hpp"

namespace trocar::planar {
namespace {

FarCorners scan_axis(Corners corners, const dvec2& axis) {
  const dvec2 turned = quarter_turn(axis);
  FarCorners far;
  for (std::uint32_t i = 1; i < corners.size(); ++i) {
    const double ahead = glm::dot(axis, corners[i]), best = glm::dot(axis, corners[far.first]);
    if (ahead > best) far = {i, i};
    if (ahead != best) continue;
    if (glm::dot(turned, corners[i]) < glm::dot(turned, corners[far.first])) far.first = i;
    if (glm::dot(turned, corners[i]) > glm::dot(turned, corners[far.last])) far.last = i;
  }
  return far;
}

// Returns all corners of the plateau around a largest corner.
template <class Compare>
FarCorners with_equals(std::size_t n, const Compare& compare) {
  const std::size_t peak = bimodal_maximum(n, compare);
  const std::size_t before = peak > 0 ? peak - 1 : n - 1, after = peak + 1 < n ? peak + 1 : 0;
  FarCorners far{static_cast<std::uint32_t>(peak), static_cast<std::uint32_t>(peak)};
  if (compare(before, peak) == 0) far.first = static_cast<std::uint32_t>(before);
  if (compare(after, peak) == 0) far.last = static_cast<std::uint32_t>(after);
  return far;
}

}  // namespace

ConvexView convex_view(Corners strictly_convex) {
  ConvexView view{strictly_convex};
  for (std::size_t k = 0; k < kAxisDirections.size(); ++k)
    view.axis_ends[k] = scan_axis(strictly_convex, kAxisDirections[k]);
  return view;
}

ConvexPolygon::ConvexPolygon(Corners polygon) {
  if (const std::string fault = convex_fault(polygon); !fault.empty()) throw InputError(fault);
  const std::vector<std::uint32_t> ring = distinct_corners(polygon);
  const std::size_t n = ring.size();
  bool clockwise = false;
  for (std::size_t i = 0; i < n; ++i) {
    const int turn = side_of_line(polygon[ring[(i + n - 1) % n]], polygon[ring[i]], polygon[ring[(i + 1) % n]]);
    if (turn != 0) corners_.push_back(polygon[ring[i]]);
    clockwise = clockwise || turn < 0;
  }
  if (clockwise) std::reverse(corners_.begin(), corners_.end());
  axis_ends_ = convex_view(corners_).axis_ends;
}

bool contains(const ConvexView& polygon, const dvec2& p) {
  const Corners c = polygon.corners;
  const std::size_t n = c.size();
  if (side_of_line(c[0], c[1], p) < 0 || side_of_line(c[0], c[n - 1], p) > 0) return false;
  std::size_t low = 1, high = n - 1;  // p lies left of c0 -> c[low]
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (side_of_line(c[0], c[middle], p) >= 0 ? low : high) = middle;
  }
  return side_of_line(c[low], c[low + 1], p) >= 0;
}

FarCorners farthest(const ConvexView& polygon, const dvec2& direction) {
  const Corners c = polygon.corners;
  return with_equals(c.size(),
                     [&](std::size_t i, std::size_t j) { return dot_sign(dvec2(0.0), direction, c[j], c[i]); });
}

FarCorners farthest_left(const ConvexView& polygon, const dvec2& a, const dvec2& b) {
  const Corners c = polygon.corners;
  return with_equals(c.size(), [&](std::size_t i, std::size_t j) { return cross_sign(a, b, c[j], c[i]); });
}

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

namespace {

// A run of sides, counter-clockwise: corners first .. first + sides. With zero sides it is one corner.
struct Chain {
  Corners corners;
  std::uint32_t first, sides;

  const dvec2& corner(std::uint32_t k) const {
    const std::size_t at = std::size_t{first} + k;
    return corners[at < corners.size() ? at : at - corners.size()];
  }
  const dvec2& before() const { return corners[first > 0 ? first - 1 : corners.size() - 1]; }
  const dvec2& after() const { return corner(corners.size() > 1 ? 1 : 0); }
  void keep_first(std::uint32_t k) { sides = k; }
  void drop_first(std::uint32_t k) {
    const std::size_t at = std::size_t{first} + k;
    first = static_cast<std::uint32_t>(at < corners.size() ? at : at - corners.size());
    sides -= k;
  }
};

Chain chain(const ConvexView& polygon, int from_axis, int to_axis) {
  const auto n = static_cast<std::uint32_t>(polygon.corners.size());
  const std::uint32_t first = polygon.axis_ends[from_axis].first, last = polygon.axis_ends[to_axis].last;
  return {polygon.corners, first, (last + n - first) % n};
}

// Drops at least half of the sides of one chain. False when it proves that the polygons meet. All sides face each other
// within one quadrant; p is seen from the first polygon looking outward, q from the second looking inward.
bool drop_half(Chain& p, Chain& q) {
  const std::uint32_t kp = p.sides / 2, kq = q.sides / 2;
  const dvec2 &p0 = p.corner(kp), &p1 = p.corner(kp + 1), &q0 = q.corner(kq), &q1 = q.corner(kq + 1);
  if (cross_sign(p0, p1, q1, q0) >= 0) {
    const bool p_later = dot_sign(p0, p1, p1, q0) >= 0, q_earlier = dot_sign(q1, q0, p1, q0) <= 0;
    if (p_later) p.drop_first(kp + 1);
    if (q_earlier) q.keep_first(kq);
    return p_later || q_earlier;
  }
  const bool p_earlier = dot_sign(p0, p1, p0, q1) <= 0, q_later = dot_sign(q1, q0, p0, q1) >= 0;
  if (p_earlier) p.keep_first(kp);
  if (q_later) q.drop_first(kq + 1);
  return p_earlier || q_later;
}

// Narrows a chain to the side or corner nearest to one point; one side or none remains.
void narrow_to(const dvec2& point, Chain& c) {
  while (c.sides > 0) {
    const std::uint32_t k = c.sides / 2;
    const dvec2 &c0 = c.corner(k), &c1 = c.corner(k + 1);
    if (dot_sign(c0, c1, c0, point) <= 0) {
      c.keep_first(k);
    } else if (dot_sign(c0, c1, c1, point) >= 0) {
      c.drop_first(k + 1);
    } else {
      c.drop_first(k);
      c.keep_first(1);
      return;
    }
  }
}

struct Pair {
  double distance;
  dvec2 first, second;
};

// A corner and its nearest side are the nearest pair when the corner's neighbours are not nearer to the side's line.
std::optional<Pair> proved_side(const Chain& corner, const Chain& side) {
  const dvec2 &p = corner.corner(0), &a = side.corner(0), &b = side.corner(1);
  if (side_of_line(a, b, p) >= 0) return std::nullopt;
  if (cross_sign(a, b, p, corner.before()) > 0 || cross_sign(a, b, p, corner.after()) > 0) return std::nullopt;
  const dvec2 along = b - a, nearest = nearest_point({a, b}, p);
  return Pair{std::abs(cross(along, p - a)) / glm::length(along), p, nearest};
}

// Two corners are the nearest pair when each polygon lies behind its own corner, as seen from the other corner.
std::optional<Pair> proved_corners(const Chain& first, const Chain& second) {
  const dvec2 &p = first.corner(0), &q = second.corner(0);
  if (p == q || dot_sign(p, q, p, first.before()) > 0 || dot_sign(p, q, p, first.after()) > 0 ||
      dot_sign(p, q, q, second.before()) < 0 || dot_sign(p, q, q, second.after()) < 0)
    return std::nullopt;
  return Pair{glm::length(q - p), p, q};
}

std::optional<Pair> nearest_in_quadrant(Chain p, Chain q) {
  while (p.sides > 0 && q.sides > 0) {
    if (!drop_half(p, q)) return std::nullopt;
  }
  if (p.sides == 0) narrow_to(p.corner(0), q);
  if (p.sides > 0) narrow_to(q.corner(0), p);
  if (q.sides > 0) return proved_side(p, q);
  if (p.sides == 0) return proved_corners(p, q);
  std::optional<Pair> pair = proved_side(q, p);
  if (pair) std::swap(pair->first, pair->second);
  return pair;
}

}  // namespace

ConvexGap convex_gap(const ConvexView& first, const ConvexView& second) {
  for (int low = 0; low < 4; ++low) {
    const int high = (low + 1) % 4;
    const Chain p = chain(first, low, high), q = chain(second, (low + 2) % 4, (high + 2) % 4);
    // The direction of the nearest pair can lie in this quadrant only if it turns inward at both ends of the chains.
    if (cross_sign(dvec2(0.0), kAxisDirections[low], p.corner(0), q.corner(0)) < 0 ||
        cross_sign(dvec2(0.0), kAxisDirections[high], p.corner(p.sides), q.corner(q.sides)) > 0)
      continue;
    if (const auto pair = nearest_in_quadrant(p, q)) return {false, pair->distance, pair->first, pair->second};
  }
  return {};
}

}  // namespace trocar::planar
