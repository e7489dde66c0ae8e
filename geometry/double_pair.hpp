// Computes in double-double arithmetic: a number is the unevaluated sum of two doubles, about 106 bits. The elementary
// functions use it where one double would lose the last bit. It uses only IEEE + - x / and square roots, so the bits
// are the same on every machine. Based on: Dekker, "A floating-point technique for extending the available precision",
// Numer. Math. 18, 1971; Knuth, "The Art of Computer Programming", volume 2, 4.2.2. Products need factors below 2^995
// and above 2^-480. Tested through geometry/elementary.hpp in tests/geometry/elementary_test.cpp
#pragma once

#include <cmath>

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
