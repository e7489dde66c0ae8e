#include "geometry/planar/polygon.hpp"

#include <algorithm>
#include <cmath>

namespace trocar::planar {
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

}  // namespace trocar::planar
