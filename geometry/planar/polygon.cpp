#include "geometry/planar/polygon.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "geometry/error.hpp"

namespace trocar::planar {
namespace {

double clamp01(double x) { return std::min(std::max(x, 0.0), 1.0); }

struct Sides {
  int of_c, of_d, of_a, of_b;  // side of the other segment's line on which each end lies
};

Sides sides(const Segment& s, const Segment& t) {
  return {side_of_line(s.a, s.b, t.a), side_of_line(s.a, s.b, t.b), side_of_line(t.a, t.b, s.a),
          side_of_line(t.a, t.b, s.b)};
}

bool all_on_one_line(const Sides& at) { return !at.of_a && !at.of_b && !at.of_c && !at.of_d; }

// Returns the axis along which four collinear points differ most; it orders them exactly.
int longest_axis(const Segment& s, const Segment& t) {
  const auto [x_low, x_high] = std::minmax({s.a.x, s.b.x, t.a.x, t.b.x});
  const auto [y_low, y_high] = std::minmax({s.a.y, s.b.y, t.a.y, t.b.y});
  return x_high - x_low >= y_high - y_low ? 0 : 1;
}

SegmentHit overlap(const Segment& s, const Segment& t) {
  const int axis = longest_axis(s, t);
  const bool forward = s.a[axis] <= s.b[axis], same = (t.a[axis] <= t.b[axis]) == forward;
  const dvec2 t_first = same ? t.a : t.b, t_last = same ? t.b : t.a;
  const auto before = [&](const dvec2& p, const dvec2& q) { return forward ? p[axis] < q[axis] : p[axis] > q[axis]; };
  const dvec2 from = before(s.a, t_first) ? t_first : s.a, to = before(t_last, s.b) ? t_last : s.b;
  if (before(to, from)) return {};
  const auto kind = from[axis] == to[axis] ? SegmentMeeting::Point : SegmentMeeting::Overlap;
  return {kind, nearest_parameter(s, from), nearest_parameter(t, from), from, to};
}

// Returns the parameter on `s` at which the line through `t` cuts it; the sides of its ends are known exactly.
double cut_parameter(const Segment& s, const Segment& t, int side_a, int side_b) {
  if (side_a == 0) return 0.0;
  if (side_b == 0) return 1.0;
  const dvec2 along = t.b - t.a;
  const double from_a = std::abs(cross(along, s.a - t.a)), from_b = std::abs(cross(along, s.b - t.a));
  return from_a + from_b > 0.0 ? from_a / (from_a + from_b) : 0.5;
}

}  // namespace

double nearest_parameter(const Segment& s, const dvec2& p) {
  const dvec2 along = s.b - s.a;
  const double squared = glm::dot(along, along);
  return squared > 0.0 ? clamp01(glm::dot(p - s.a, along) / squared) : 0.0;
}

dvec2 nearest_point(const Segment& s, const dvec2& p) {
  const double parameter = nearest_parameter(s, p);
  return parameter == 1.0 ? s.b : point_at(s, parameter);
}

double distance(const Segment& s, const dvec2& p) { return glm::length(p - nearest_point(s, p)); }

bool on_segment(const Segment& s, const dvec2& p) {
  return p.x >= std::min(s.a.x, s.b.x) && p.x <= std::max(s.a.x, s.b.x) && p.y >= std::min(s.a.y, s.b.y) &&
         p.y <= std::max(s.a.y, s.b.y) && side_of_line(s.a, s.b, p) == 0;
}

SegmentHit meet(const Segment& first, const Segment& second) {
  const Sides at = sides(first, second);
  if (all_on_one_line(at)) return overlap(first, second);
  if (at.of_c * at.of_d > 0 || at.of_a * at.of_b > 0) return {};
  const double u = cut_parameter(first, second, at.of_a, at.of_b), v = cut_parameter(second, first, at.of_c, at.of_d);
  const dvec2 point = v == 0.0 ? second.a : v == 1.0 ? second.b : u == 1.0 ? first.b : point_at(first, u);
  return {SegmentMeeting::Point, u, v, point, point};
}

bool segments_meet(const Segment& first, const Segment& second) {
  const Sides at = sides(first, second);
  if (all_on_one_line(at)) return overlap(first, second).kind != SegmentMeeting::None;
  return at.of_c * at.of_d <= 0 && at.of_a * at.of_b <= 0;
}

double distance(const Segment& first, const Segment& second) {
  if (segments_meet(first, second)) return 0.0;
  return std::min(
      {distance(first, second.a), distance(first, second.b), distance(second, first.a), distance(second, first.b)});
}

namespace {

std::string name(std::size_t corner) { return std::to_string(corner + 1); }

// Checks common to simple and convex polygons; fills `ring` with the distinct corners.
std::string ring_fault(Corners polygon, std::vector<std::uint32_t>& ring) {
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    if (!std::isfinite(polygon[i].x) || !std::isfinite(polygon[i].y))
      return "corner " + name(i) + " of the outline is not a finite number; correct it";
  }
  ring = distinct_corners(polygon);
  if (ring.size() < 3)
    return "an outline needs at least 3 different corners, but this one has " + std::to_string(ring.size()) +
           "; add corners";
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const std::size_t before = ring[(i + ring.size() - 1) % ring.size()], here = ring[i],
                      after = ring[(i + 1) % ring.size()];
    if (cross_sign(polygon[before], polygon[here], polygon[here], polygon[after]) == 0 &&
        dot_sign(polygon[before], polygon[here], polygon[here], polygon[after]) < 0)
      return "the outline turns back on itself at corner " + name(here) + "; remove that corner";
  }
  return {};
}

bool boxes_apart(const Segment& s, const Segment& t) {
  return std::max(s.a.x, s.b.x) < std::min(t.a.x, t.b.x) || std::max(t.a.x, t.b.x) < std::min(s.a.x, s.b.x) ||
         std::max(s.a.y, s.b.y) < std::min(t.a.y, t.b.y) || std::max(t.a.y, t.b.y) < std::min(s.a.y, s.b.y);
}

bool goes_up(const dvec2& from, const dvec2& to) { return to.y > from.y || (to.y == from.y && to.x > from.x); }

}  // namespace

double signed_area(Corners polygon) {
  double twice = 0.0;
  for (std::size_t i = 1; i + 1 < polygon.size(); ++i)
    twice += cross(polygon[i] - polygon[0], polygon[i + 1] - polygon[0]);
  return 0.5 * twice;
}

Location locate_in_polygon(Corners polygon, const dvec2& p) {
  bool inside = false;
  for (std::size_t i = 0, j = polygon.size() - 1; i < polygon.size(); j = i++) {
    const dvec2 &a = polygon[j], &b = polygon[i];
    const double low = std::min(a.y, b.y), high = std::max(a.y, b.y);
    if (p.y < low || p.y > high || p.x > std::max(a.x, b.x)) continue;
    const int side = side_of_line(a, b, p);
    if (side == 0 && p.x >= std::min(a.x, b.x)) return Location::Boundary;
    // The ray from p to the right crosses the side when p is left of the side directed upward.
    const bool upward = b.y > a.y;
    if (p.y >= low && p.y < high && (upward ? side > 0 : side < 0)) inside = !inside;
  }
  return inside ? Location::Inside : Location::Outside;
}

std::vector<std::uint32_t> distinct_corners(Corners polygon) {
  std::vector<std::uint32_t> ring;
  ring.reserve(polygon.size());
  for (std::uint32_t i = 0; i < polygon.size(); ++i) {
    if (ring.empty() || polygon[ring.back()] != polygon[i]) ring.push_back(i);
  }
  while (ring.size() > 1 && polygon[ring.back()] == polygon[ring.front()]) ring.pop_back();
  return ring;
}

std::string simple_fault(Corners polygon) {
  std::vector<std::uint32_t> ring;
  if (std::string fault = ring_fault(polygon, ring); !fault.empty()) return fault;
  const std::size_t n = ring.size();
  const auto side = [&](std::size_t i) { return Segment{polygon[ring[i]], polygon[ring[(i + 1) % n]]}; };
  for (std::size_t i = 0; i + 2 < n; ++i) {
    const Segment first = side(i);
    for (std::size_t j = i + 2; j < n; ++j) {
      if (i == 0 && j == n - 1) continue;
      const Segment second = side(j);
      if (!boxes_apart(first, second) && segments_meet(first, second))
        return "the sides after corners " + name(ring[i]) + " and " + name(ring[j]) +
               " of the outline meet; draw it without touching itself";
    }
  }
  return {};
}

std::string convex_fault(Corners polygon) {
  std::vector<std::uint32_t> ring;
  if (std::string fault = ring_fault(polygon, ring); !fault.empty()) return fault;
  const std::size_t n = ring.size();
  int turn = 0, reversals = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const dvec2 &before = polygon[ring[(i + n - 1) % n]], &here = polygon[ring[i]], &after = polygon[ring[(i + 1) % n]];
    const int turn_here = side_of_line(before, here, after);
    if (turn_here * turn < 0)
      return "the outline turns in the other direction at corner " + name(ring[i]) + "; it must be convex";
    if (turn_here != 0) turn = turn_here;
    if (goes_up(before, here) != goes_up(here, after)) ++reversals;
  }
  if (turn == 0) return "all corners of the outline lie on one line; add a corner off that line";
  if (reversals > 2) return "the outline winds around itself more than once; it must be convex";
  return {};
}

namespace {

bool inside_triangle(const dvec2& a, const dvec2& b, const dvec2& c, const dvec2& p) {
  return side_of_line(a, b, p) >= 0 && side_of_line(b, c, p) >= 0 && side_of_line(c, a, p) >= 0;
}

// The polygon that remains while ears are cut off: a ring of corner indices, counter-clockwise.
class Remains {
 public:
  Remains(Corners polygon, const std::vector<std::uint32_t>& ring)
      : polygon_(polygon), next_(polygon.size()), previous_(polygon.size()), left_(ring.size()), at_(ring.front()) {
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const std::uint32_t after = ring[(i + 1) % ring.size()];
      next_[ring[i]] = after;
      previous_[after] = ring[i];
    }
  }

  std::vector<CornerTriangle> cut_all() {
    std::vector<CornerTriangle> triangles;
    triangles.reserve(left_ - 2);
    // A simple polygon always has an ear, so this limit is never reached; it guarantees that the loop ends.
    for (std::size_t idle = 0; left_ >= 3 && idle <= left_; ++idle) {
      const int turn = side_of_line(polygon_[previous_[at_]], polygon_[at_], polygon_[next_[at_]]);
      const bool is_ear = turn > 0 && holds_no_corner();
      if (is_ear) triangles.push_back({previous_[at_], at_, next_[at_]});
      if (is_ear || turn == 0) idle = 0, drop();
      at_ = next_[at_];
    }
    return triangles;
  }

 private:
  bool holds_no_corner() const {
    const std::uint32_t before = previous_[at_], after = next_[at_];
    const dvec2 &a = polygon_[before], &b = polygon_[at_], &c = polygon_[after];
    const dvec2 low = glm::min(glm::min(a, b), c), high = glm::max(glm::max(a, b), c);
    for (std::uint32_t i = next_[after]; i != before; i = next_[i]) {
      const dvec2& p = polygon_[i];
      const bool in_box = p.x >= low.x && p.x <= high.x && p.y >= low.y && p.y <= high.y;
      if (in_box && inside_triangle(a, b, c, p)) return false;
    }
    return true;
  }

  void drop() {
    next_[previous_[at_]] = next_[at_];
    previous_[next_[at_]] = previous_[at_];
    --left_;
  }

  Corners polygon_;
  std::vector<std::uint32_t> next_, previous_;  // [corner]
  std::size_t left_;
  std::uint32_t at_;
};

// The directed sides of all triangles, three consecutive ones each; a side of the outline is its own `twin`.
struct HalfSides {
  std::vector<std::uint32_t> origin, next, previous, twin;  // [half side]
};

HalfSides half_sides(const std::vector<CornerTriangle>& triangles) {
  HalfSides h;
  std::vector<std::array<std::uint32_t, 3>> keyed;  // lower corner, higher corner, half side
  for (std::uint32_t t = 0; t < triangles.size(); ++t) {
    for (std::uint32_t k = 0; k < 3; ++k) {
      const std::uint32_t here = 3 * t + k, from = triangles[t][k], to = triangles[t][(k + 1) % 3];
      h.origin.push_back(from);
      h.next.push_back(3 * t + (k + 1) % 3);
      h.previous.push_back(3 * t + (k + 2) % 3);
      h.twin.push_back(here);
      keyed.push_back({std::min(from, to), std::max(from, to), here});
    }
  }
  std::sort(keyed.begin(), keyed.end());
  for (std::size_t i = 0; i + 1 < keyed.size(); ++i) {
    if (keyed[i][0] != keyed[i + 1][0] || keyed[i][1] != keyed[i + 1][1]) continue;
    h.twin[keyed[i][2]] = keyed[i + 1][2];
    h.twin[keyed[i + 1][2]] = keyed[i][2];
  }
  return h;
}

// Removes each diagonal whose two ends stay convex without it. True for the removed half sides.
std::vector<bool> remove_diagonals(Corners polygon, HalfSides& h) {
  std::vector<bool> removed(h.origin.size(), false);
  // Is the corner convex where the outline continues from `in` to `out`?
  const auto convex = [&](std::uint32_t in, std::uint32_t out) {
    return side_of_line(polygon[h.origin[in]], polygon[h.origin[out]], polygon[h.origin[h.next[out]]]) >= 0;
  };
  for (std::uint32_t s = 0; s < h.origin.size(); ++s) {
    const std::uint32_t t = h.twin[s];
    if (t <= s || !convex(h.previous[s], h.next[t]) || !convex(h.previous[t], h.next[s])) continue;
    for (const auto& [in, out] : {std::pair{h.previous[s], h.next[t]}, std::pair{h.previous[t], h.next[s]}}) {
      h.next[in] = out;
      h.previous[out] = in;
    }
    removed[s] = removed[t] = true;
  }
  return removed;
}

}  // namespace

std::vector<CornerTriangle> triangulate(Corners polygon) {
  if (const std::string fault = simple_fault(polygon); !fault.empty()) throw InputError(fault);
  std::vector<std::uint32_t> ring = distinct_corners(polygon);
  if (signed_area(polygon) < 0.0) std::reverse(ring.begin(), ring.end());
  return Remains(polygon, ring).cut_all();
}

ConvexPieces convex_pieces(Corners polygon) {
  HalfSides h = half_sides(triangulate(polygon));
  std::vector<bool> done = remove_diagonals(polygon, h);
  ConvexPieces pieces{{}, {0}};
  for (std::uint32_t s = 0; s < h.origin.size(); ++s) {
    if (done[s]) continue;
    for (std::uint32_t at = s; !done[at]; at = h.next[at]) {
      pieces.corner.push_back(h.origin[at]);
      done[at] = true;
    }
    pieces.start.push_back(static_cast<std::uint32_t>(pieces.corner.size()));
  }
  return pieces;
}

}  // namespace trocar::planar
