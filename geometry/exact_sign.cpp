#include "geometry/exact_sign.hpp"

namespace trocar::planar {
namespace {

using Sum = ExactSum<16>;

DoublePair difference(double a, double b) { return exact_sum(a, -b); }

// Adds u v exactly; `sign` is 1 or -1.
void add_product(Sum& sum, const DoublePair& u, const DoublePair& v, double sign) {
  for (const double a : {u.low, u.high})
    for (const double b : {v.low, v.high}) sum.add_product(sign * a, b);
}

}  // namespace

int exact_cross_sign(const dvec2& a, const dvec2& b, const dvec2& c, const dvec2& d) {
  Sum value;
  add_product(value, difference(b.x, a.x), difference(d.y, c.y), 1.0);
  add_product(value, difference(b.y, a.y), difference(d.x, c.x), -1.0);
  return value.sign();
}

int exact_dot_sign(const dvec2& a, const dvec2& b, const dvec2& c, const dvec2& d) {
  Sum value;
  add_product(value, difference(b.x, a.x), difference(d.x, c.x), 1.0);
  add_product(value, difference(b.y, a.y), difference(d.y, c.y), 1.0);
  return value.sign();
}

}  // namespace trocar::planar
