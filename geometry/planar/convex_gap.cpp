#include "geometry/planar/convex_gap.hpp"

#include <optional>

namespace trocar::planar {
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
