// Computes the exact sign of a cross or dot product of two differences of points.
// Source: Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates", 1997. We
// differ: one filter, then the full expansion, for both the cross and the dot product of any two differences.
// Every decision of geometry/planar uses these signs. Any unit. The sign is exact for finite coordinates that are zero,
// or between 1e-120 and 1e150 in size, so that products neither underflow nor overflow.
// Checked against 128-bit integers in tests/geometry/planar_exact_test.cpp
#pragma once

#include <cmath>
#include <glm/glm.hpp>

namespace trocar::planar {

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
