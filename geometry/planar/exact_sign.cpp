#include "geometry/planar/exact_sign.hpp"

#include <array>

namespace trocar::planar {
namespace {

// high + low is exactly the result; |low| is below half a unit in the last place of high.
struct Exact {
  double high, low;
};

Exact sum(double a, double b) {
  const double high = a + b, from_b = high - a, from_a = high - from_b;
  return {high, (a - from_a) + (b - from_b)};
}

Exact difference(double a, double b) { return sum(a, -b); }

Exact product(double a, double b) {
  const double high = a * b;
  return {high, std::fma(a, b, -high)};
}

// An exact sum of doubles: parts that do not overlap, smallest first, so that the last one gives the sign.
class Expansion {
 public:
  void add(double term) {
    int kept = 0;
    for (int i = 0; i < count_; ++i) {
      const Exact step = sum(term, parts_[i]);
      term = step.high;
      if (step.low != 0.0) parts_[kept++] = step.low;
    }
    if (term != 0.0) parts_[kept++] = term;
    count_ = kept;
  }

  // Adds u v exactly; `sign` is 1 or -1.
  void add_product(const Exact& u, const Exact& v, double sign) {
    for (const double a : {u.low, u.high}) {
      for (const double b : {v.low, v.high}) {
        const Exact term = product(sign * a, b);
        add(term.low);
        add(term.high);
      }
    }
  }

  int sign() const { return count_ == 0 ? 0 : sign_of(parts_[count_ - 1]); }

 private:
  std::array<double, 16> parts_{};
  int count_ = 0;
};

}  // namespace

int exact_cross_sign(const dvec2& a, const dvec2& b, const dvec2& c, const dvec2& d) {
  Expansion value;
  value.add_product(difference(b.x, a.x), difference(d.y, c.y), 1.0);
  value.add_product(difference(b.y, a.y), difference(d.x, c.x), -1.0);
  return value.sign();
}

int exact_dot_sign(const dvec2& a, const dvec2& b, const dvec2& c, const dvec2& d) {
  Expansion value;
  value.add_product(difference(b.x, a.x), difference(d.x, c.x), 1.0);
  value.add_product(difference(b.y, a.y), difference(d.y, c.y), 1.0);
  return value.sign();
}

}  // namespace trocar::planar
