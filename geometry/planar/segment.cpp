#include "geometry/planar/segment.hpp"

#include <algorithm>

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

}  // namespace trocar::planar
