#include "cpu_collision/trees/motion_crossing.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace trocar {
namespace {

using glm::dvec3;

// Boxes looked at before the pair counts as meeting: sliding within one plane has no single moment to find.
constexpr int kMostBoxes = 20000;
// A box is halved one way after another; this many are open at once at most.
constexpr int kMostOpen = 256;

// Time and two places, each in [0, 1].
struct Box {
  std::array<double, 3> low{0.0, 0.0, 0.0}, high{1.0, 1.0, 1.0};
};

dvec3 at(const MovingPoint& p, double time) { return p.before + time * (p.after - p.before); }

// The gap between the features over a box: its bounds by coordinate, and by how much each parameter can change it.
struct Bounds {
  dvec3 low, high;
  std::array<double, 3> change;  // m
};

// gap(time, u, v) at the corners of the box. It is linear in each parameter, so these bound it.
template <class Gap>
Bounds bounds_over(const Box& box, Gap gap) {
  std::array<dvec3, 8> value;
  for (int corner = 0; corner < 8; ++corner)
    value[corner] = gap((corner & 1 ? box.high : box.low)[0], (corner & 2 ? box.high : box.low)[1],
                        (corner & 4 ? box.high : box.low)[2]);
  Bounds bounds{value[0], value[0], {0.0, 0.0, 0.0}};
  for (int corner = 0; corner < 8; ++corner) {
    bounds.low = glm::min(bounds.low, value[corner]);
    bounds.high = glm::max(bounds.high, value[corner]);
    for (int k = 0; k < 3; ++k) {
      const dvec3 step = glm::abs(value[corner] - value[corner ^ (1 << k)]);
      bounds.change[k] = std::max(bounds.change[k], std::max({step.x, step.y, step.z}));
    }
  }
  return bounds;
}

bool holds_zero(const Bounds& b, double rounding) {
  return glm::all(glm::lessThanEqual(b.low, dvec3(rounding))) &&
         glm::all(glm::greaterThanEqual(b.high, dvec3(-rounding)));
}

// Earliest time of any small box whose bounds hold zero. `within`: is any point of the box in the domain?
template <class Gap, class Within>
std::optional<double> first_zero(Gap gap, Within within, double tolerance, double rounding) {
  std::array<Box, kMostOpen> open;
  int count = 1;
  open[0] = {};
  std::optional<double> first;
  for (int seen = 0; count > 0; ++seen) {
    const Box box = open[--count];
    if (first && box.low[0] >= *first) continue;
    const Bounds bounds = bounds_over(box, gap);
    if (!holds_zero(bounds, rounding)) continue;
    const int widest =
        static_cast<int>(std::max_element(bounds.change.begin(), bounds.change.end()) - bounds.change.begin());
    if (bounds.change[widest] <= tolerance || seen >= kMostBoxes || count + 2 > kMostOpen) {
      first = first ? std::min(*first, box.low[0]) : box.low[0];
      continue;
    }
    Box halves[] = {box, box};
    halves[0].high[widest] = halves[1].low[widest] = 0.5 * (box.low[widest] + box.high[widest]);
    for (const Box& half : {halves[1], halves[0]})
      if (within(half)) open[count++] = half;
  }
  return first;
}

double rounding_of(std::initializer_list<MovingPoint> points) {
  double largest = 0.0;
  for (const MovingPoint& p : points)
    for (const dvec3& place : {p.before, p.after})
      largest = std::max({largest, std::abs(place.x), std::abs(place.y), std::abs(place.z)});
  return 1e-15 * 16.0 * largest;
}

std::array<MovingPoint, 3> corners_of(const MovingTriangle& t) {
  return {MovingPoint{t.before.a, t.after.a}, {t.before.b, t.after.b}, {t.before.c, t.after.c}};
}

void keep_earlier(std::optional<double>& first, const std::optional<double>& other) {
  if (other && (!first || *other < *first)) first = other;
}

// Boxes around the motions, by coordinate.
bool motions_apart(std::initializer_list<MovingPoint> first, std::initializer_list<MovingPoint> second) {
  dvec3 low[2], high[2];
  int side = 0;
  for (const auto& points : {first, second}) {
    low[side] = dvec3(1e300), high[side] = dvec3(-1e300);
    for (const MovingPoint& p : points) {
      low[side] = glm::min(low[side], glm::min(p.before, p.after));
      high[side] = glm::max(high[side], glm::max(p.before, p.after));
    }
    ++side;
  }
  return glm::any(glm::lessThan(high[0], low[1])) || glm::any(glm::lessThan(high[1], low[0]));
}

}  // namespace

std::optional<double> corner_meets_face(const MovingPoint& corner, const MovingPoint& a, const MovingPoint& b,
                                        const MovingPoint& c, double tolerance) {
  if (motions_apart({corner}, {a, b, c})) return std::nullopt;
  const auto gap = [&](double time, double u, double v) {
    const dvec3 from = at(a, time);
    return at(corner, time) - from - u * (at(b, time) - from) - v * (at(c, time) - from);
  };
  return first_zero(
      gap, [](const Box& box) { return box.low[1] + box.low[2] <= 1.0; }, tolerance, rounding_of({corner, a, b, c}));
}

std::optional<double> edge_meets_edge(const MovingPoint& a, const MovingPoint& b, const MovingPoint& c,
                                      const MovingPoint& d, double tolerance) {
  if (motions_apart({a, b}, {c, d})) return std::nullopt;
  const auto gap = [&](double time, double u, double v) {
    const dvec3 from = at(a, time), to = at(c, time);
    return from + u * (at(b, time) - from) - to - v * (at(d, time) - to);
  };
  return first_zero(
      gap, [](const Box&) { return true; }, tolerance, rounding_of({a, b, c, d}));
}

std::optional<double> triangles_meet(const MovingTriangle& first, const MovingTriangle& second, double tolerance) {
  const auto p = corners_of(first), q = corners_of(second);
  std::optional<double> time;
  for (int k = 0; k < 3; ++k) {
    keep_earlier(time, corner_meets_face(p[k], q[0], q[1], q[2], tolerance));
    keep_earlier(time, corner_meets_face(q[k], p[0], p[1], p[2], tolerance));
    for (int l = 0; l < 3; ++l)
      keep_earlier(time, edge_meets_edge(p[k], p[(k + 1) % 3], q[l], q[(l + 1) % 3], tolerance));
  }
  return time;
}

}  // namespace trocar
