// Computes the exact signs of products of differences of points, in the plane and in space, by a filter in double, then
// by exact sums in close cases; and the double-double arithmetic under them. All our geometric decisions use these
// signs. Source: Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates", 1997.
// We differ: one filter, then the full expansion.
// Checked against 128-bit integers in tests/geometry/planar_test.cpp, against rational arithmetic in
// tests/mesh/exact_sign_test.cpp
#pragma once

#include <cmath>
#include <glm/glm.hpp>

namespace trocar {

struct DoublePair {
  double high = 0.0, low = 0.0;  // |low| is at most half a unit in the last place of high
};

// Both functions return a + b exactly. quick_sum needs |a| >= |b| or a = 0.
inline DoublePair quick_sum(double a, double b) {
  const double high = a + b;
  return {high, b - (high - a)};
}
inline DoublePair exact_sum(double a, double b) {
  const double high = a + b, rest = high - a;
  return {high, (a - (high - rest)) + (b - rest)};
}

// Splits a factor into its upper 26 bits and its lower 27, so that products of the parts are exact.
inline DoublePair halves(double a) {
  constexpr double kSplit = 134217729.0;  // 2^27 + 1
  const double scaled = kSplit * a, high = scaled - (scaled - a);
  return {high, a - high};
}
inline DoublePair exact_product(double a, double b) {
  const double high = a * b;
  const DoublePair x = halves(a), y = halves(b);
  return {high, ((x.high * y.high - high) + x.high * y.low + x.low * y.high) + x.low * y.low};
}

inline DoublePair operator-(const DoublePair& a) { return {-a.high, -a.low}; }
inline DoublePair operator+(const DoublePair& a, const DoublePair& b) {
  const DoublePair s = exact_sum(a.high, b.high), t = exact_sum(a.low, b.low);
  const DoublePair u = quick_sum(s.high, s.low + t.high);
  return quick_sum(u.high, u.low + t.low);
}
inline DoublePair operator-(const DoublePair& a, const DoublePair& b) { return a + -b; }
inline DoublePair operator*(const DoublePair& a, const DoublePair& b) {
  const DoublePair p = exact_product(a.high, b.high);
  return quick_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}
inline DoublePair operator*(double a, const DoublePair& b) {
  const DoublePair p = exact_product(a, b.high);
  return quick_sum(p.high, p.low + a * b.low);
}
inline DoublePair operator/(const DoublePair& a, const DoublePair& b) {
  const double first = a.high / b.high;
  const DoublePair rest = a - first * b;
  return quick_sum(first, rest.high / b.high);
}
inline DoublePair square_root(const DoublePair& a) {
  if (!(a.high > 0.0)) return {};
  const double first = std::sqrt(a.high);
  const DoublePair rest = a - exact_product(first, first);
  return quick_sum(first, rest.high / (2.0 * first));
}

}  // namespace trocar

namespace trocar::planar {

// In the plane, any unit. The sign is exact for finite coordinates that are zero, or between 1e-120 and 1e150 in size,
// so that products neither underflow nor overflow.

using glm::dvec2;

inline int sign_of(double x) { return (x > 0.0) - (x < 0.0); }
inline double cross(const dvec2& u, const dvec2& v) { return u.x * v.y - u.y * v.x; }
// Returns `v` turned a quarter counter-clockwise (x right, y up).
inline dvec2 quarter_turn(const dvec2& v) { return {-v.y, v.x}; }

// The rounding error of two differences, two products and one subtraction stays below this fraction of the products.
constexpr double kSignFilter = 4.5e-16;  // 1   4 half-units in the last place, rounded up

// Returns the sign of (b - a) x (d - c) and of (b - a) . (d - c) with no filter: about thirty times slower.
int exact_cross_sign(const dvec2& a, const dvec2& b, const dvec2& c, const dvec2& d);
int exact_dot_sign(const dvec2& a, const dvec2& b, const dvec2& c, const dvec2& d);

// Returns the sign of (b - a) x (d - c): 1 when the second difference lies left of the first, 0 when parallel or either
// is zero.
inline int cross_sign(const dvec2& a, const dvec2& b, const dvec2& c, const dvec2& d) {
  const double left = (b.x - a.x) * (d.y - c.y), right = (b.y - a.y) * (d.x - c.x), value = left - right;
  if (std::abs(value) > kSignFilter * (std::abs(left) + std::abs(right))) return sign_of(value);
  return exact_cross_sign(a, b, c, d);
}

// Returns the sign of (b - a) . (d - c).
inline int dot_sign(const dvec2& a, const dvec2& b, const dvec2& c, const dvec2& d) {
  const double left = (b.x - a.x) * (d.x - c.x), right = (b.y - a.y) * (d.y - c.y), value = left + right;
  if (std::abs(value) > kSignFilter * (std::abs(left) + std::abs(right))) return sign_of(value);
  return exact_dot_sign(a, b, c, d);
}

// 1 when `p` lies left of the line a -> b, -1 right of it, 0 on it (and always 0 when a == b).
inline int side_of_line(const dvec2& a, const dvec2& b, const dvec2& p) { return cross_sign(a, b, a, p); }

}  // namespace trocar::planar

namespace trocar {

// In space. Coordinates are floats, so every product of the determinant is two doubles and one exact sum decides. They
// must be finite.

// Returns the sign of det(a - d, b - d, c - d): +1 when d lies below the plane of a, b, c (they are clockwise seen from
// d), 0 on the plane.
int exact_orientation(const glm::vec3& a, const glm::vec3& b, const glm::vec3& c, const glm::vec3& d);

// Returns the projection along a coordinate axis. geometry/planar decides the sides of projected lines.
inline glm::dvec2 without(const glm::vec3& p, int axis) { return {p[(axis + 1) % 3], p[(axis + 2) % 3]}; }
// Returns a coordinate axis along which a, b, c do not project onto one line; -1 when they are collinear.
int projection_axis(const glm::vec3& a, const glm::vec3& b, const glm::vec3& c);
// Returns whether p lies in the triangle, border included. The triangle has area.
bool inside_triangle(const glm::dvec2& p, const glm::dvec2& a, const glm::dvec2& b, const glm::dvec2& c);
// Returns whether the segment meets the triangle. Both lie in one plane; along `axis` the triangle keeps its area.
bool meets_in_plane(const glm::vec3& p, const glm::vec3& q, const glm::vec3 (&triangle)[3], int axis);

}  // namespace trocar
