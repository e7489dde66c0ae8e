// Computes the exact sign of a cross or dot product of two differences of points in the plane, by a filter in double,
// then by an exact sum in close cases. Every decision of geometry/planar uses these signs; mesh/exact_sign.hpp, in
// space, uses the same exact sums. Any unit. Source: Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast
// Robust Geometric Predicates", 1997. We differ: one filter, then the full expansion, for both the cross and the dot
// product of any two differences. Checked against 128-bit integers in tests/geometry/planar_test.cpp
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <glm/glm.hpp>

namespace trocar {

// Double-double arithmetic: a number is the unevaluated sum of two doubles, about 106 bits. The elementary functions
// use it where one double would lose the last bit. It uses only IEEE + - x / and square roots, so the bits are the same
// on every machine. Based on: Dekker, "A floating-point technique for extending the available precision", Numer. Math.
// 18, 1971; Knuth, "The Art of Computer Programming", volume 2, 4.2.2. Products need factors below 2^995 and above
// 2^-480.
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
// Returns a b exactly.
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
inline DoublePair square_root(const DoublePair& a) {  // 0 unless a > 0
  if (!(a.high > 0.0)) return {};
  const double first = std::sqrt(a.high);
  const DoublePair rest = a - exact_product(first, first);
  return quick_sum(first, rest.high / (2.0 * first));
}

// Adds doubles without rounding, for the sign of a determinant. Parts that underflow or overflow are not exact.
// The parts do not overlap and are not zero, smallest first, so the last one gives the sign. At most `kParts` terms.
template <std::size_t kParts>
class ExactSum {
 public:
  void add(double term) {  // one of at most kParts terms
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const DoublePair step = exact_sum(term, parts_[i]);
      term = step.high;
      if (step.low != 0.0) parts_[kept++] = step.low;
    }
    if (term != 0.0) parts_[kept++] = term;
    count_ = kept;
  }
  void add_product(double a, double b) {  // two terms: a b rounded, and the rest
    const DoublePair product = exact_product(a, b);
    add(product.low);
    add(product.high);
  }
  int sign() const { return count_ == 0 ? 0 : parts_[count_ - 1] > 0.0 ? 1 : -1; }  // 1, 0 or -1

 private:
  std::array<double, kParts> parts_{};
  std::size_t count_ = 0;
};

}  // namespace trocar

namespace trocar::planar {

// In the plane, any unit. The sign is exact for finite coordinates that are zero, or between 1e-120 and 1e150 in size,
// so that products neither underflow nor overflow.

using glm::dvec2;

inline int sign_of(double x) { return (x > 0.0) - (x < 0.0); }                         // 1, 0 or -1; 0 for NaN
inline double cross(const dvec2& u, const dvec2& v) { return u.x * v.y - u.y * v.x; }  // rounded
// Returns `v` turned a quarter counter-clockwise (x right, y up).
inline dvec2 quarter_turn(const dvec2& v) { return {-v.y, v.x}; }

// The rounding error of two differences, two products and one subtraction stays below this fraction of the products.
constexpr double kSignFilter = 4.5e-16;  // 1   4 half-units in the last place, rounded up

// Returns the sign of (b - a) x (d - c) and of (b - a) . (d - c) with no filter: about thirty times slower.
int exact_cross_sign(const dvec2& a, const dvec2& b, const dvec2& c, const dvec2& d);  // 1, 0 or -1
int exact_dot_sign(const dvec2& a, const dvec2& b, const dvec2& c, const dvec2& d);    // 1, 0 or -1

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
