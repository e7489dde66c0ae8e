#include "study/planar/convex_scan.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace trocar::planar {
namespace {

const dvec2& after(Corners c, std::size_t i) { return c[i + 1 < c.size() ? i + 1 : 0]; }

std::size_t lowest(Corners c, double sign) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < c.size(); ++i) {
    const double dy = sign * (c[i].y - c[best].y), dx = sign * (c[i].x - c[best].x);
    if (dy < 0.0 || (dy == 0.0 && dx < 0.0)) best = i;
  }
  return best;
}

dvec2 cut(const dvec2& u, const dvec2& v, const Segment& line) {
  const dvec2 along = line.b - line.a;
  const double hu = cross(along, u - line.a), hv = cross(along, v - line.a);
  return hu == hv ? u : u + hu / (hu - hv) * (v - u);
}

}  // namespace

bool contains_by_scan(Corners convex, const dvec2& p) {
  for (std::size_t i = 0; i < convex.size(); ++i) {
    if (side_of_line(convex[i], after(convex, i), p) < 0) return false;
  }
  return true;
}

FarCorners farthest_by_scan(Corners convex, const dvec2& direction) {
  std::uint32_t best = 0, count = 1;
  std::uint32_t other = 0;
  for (std::uint32_t i = 1; i < convex.size(); ++i) {
    const int ahead = dot_sign(dvec2(0.0), direction, convex[best], convex[i]);
    if (ahead > 0) best = i, count = 1;
    if (ahead == 0) other = i, ++count;
  }
  if (count == 1) return {best, best};
  // The two ends of one side: the first is the one whose successor is the other.
  return best + 1 == other ? FarCorners{best, other} : FarCorners{other, best};
}

LineHit line_hit_by_scan(Corners convex, const Segment& line) {
  LineHit hit;
  if (line.a == line.b) return hit;
  int left = 0, right = 0;
  std::vector<dvec2> points;
  for (std::size_t i = 0; i < convex.size(); ++i) {
    const dvec2 &u = convex[i], &v = after(convex, i);
    const int at_u = side_of_line(line.a, line.b, u), at_v = side_of_line(line.a, line.b, v);
    left += at_u > 0, right += at_u < 0;
    if (at_u == 0) points.push_back(u);
    if (at_u * at_v < 0) points.push_back(cut(u, v, line));
  }
  if (points.empty()) return hit;
  hit.kind = left > 0 && right > 0 ? LineMeeting::Through
             : points.size() == 1  ? LineMeeting::Corner
                                   : LineMeeting::Side;
  const dvec2 along = line.b - line.a;
  std::sort(points.begin(), points.end(), [&](const dvec2& p, const dvec2& q) {
    const double apart = glm::dot(along, p - q);
    return apart != 0.0 ? apart < 0.0 : std::tie(p.x, p.y) < std::tie(q.x, q.y);
  });
  hit.enter = points.front();
  hit.leave = points.back();
  return hit;
}

SegmentInside segment_inside_by_scan(Corners convex, const Segment& segment) {
  SegmentInside inside{false, 1.0, 0.0};
  const auto take = [&](double parameter) {
    inside = {true, std::min(inside.enter, parameter), std::max(inside.leave, parameter)};
  };
  if (contains_by_scan(convex, segment.a)) take(0.0);
  if (segment.a == segment.b) return inside.meets ? inside : SegmentInside{};
  if (contains_by_scan(convex, segment.b)) take(1.0);
  for (std::size_t i = 0; i < convex.size(); ++i) {
    const SegmentHit hit = meet(segment, {convex[i], after(convex, i)});
    if (hit.kind == SegmentMeeting::None) continue;
    take(nearest_parameter(segment, hit.from));
    take(nearest_parameter(segment, hit.to));
  }
  return inside.meets ? inside : SegmentInside{};
}

ConvexGap convex_gap_by_scan(Corners first, Corners second) {
  // Corners of {q - p}: the sides of `second` and the reversed sides of `first`, merged by angle from the lowest
  // corner.
  const std::size_t n = first.size(), m = second.size();
  std::size_t i = lowest(first, -1.0), j = lowest(second, 1.0);
  ConvexGap gap{false, std::numeric_limits<double>::infinity()};
  bool inside = true;
  for (std::size_t used_p = 0, used_q = 0; used_p < n || used_q < m;) {
    const dvec2 &p = first[i], &p_next = after(first, i), &q = second[j], &q_next = after(second, j);
    // +1: the side of `second` has the larger angle, so that of `first` comes first.
    const int later = used_p == n ? -1 : used_q == m ? 1 : cross_sign(p_next, p, q, q_next);
    const bool move_p = later >= 0, move_q = later <= 0;
    const Segment side{q - p, (move_q ? q_next : q) - (move_p ? p_next : p)};
    inside = inside && side_of_line(side.a, side.b, dvec2(0.0)) >= 0;
    const double parameter = nearest_parameter(side, dvec2(0.0)), distance = glm::length(point_at(side, parameter));
    if (distance < gap.distance) {
      gap.distance = distance;
      gap.on_first = move_p ? point_at({p, p_next}, parameter) : p;
      gap.on_second = move_q ? point_at({q, q_next}, parameter) : q;
    }
    if (move_p) i = i + 1 < n ? i + 1 : 0, ++used_p;
    if (move_q) j = j + 1 < m ? j + 1 : 0, ++used_q;
  }
  return inside || gap.distance == 0.0 ? ConvexGap{} : gap;
}

}  // namespace trocar::planar
