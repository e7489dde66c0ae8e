// Computes the distances of geometry/closest.hpp slowly, by nested golden-section search, without shared code. The
// distance is convex in the parameters along both shapes, so each search has one minimum. Results are accurate to about
// 1e-9 m. Units:
// metres.
#pragma once

#include <algorithm>

#include "geometry/mesh_view.hpp"

namespace trocar::test {

using glm::dvec3;

// Returns the least value of a convex function over [0, 1].
template <class Function>
double least_over_unit(Function f, int steps = 45) {
  constexpr double kGolden = 0.6180339887498949;
  double low = 0.0, high = 1.0, a = 1.0 - kGolden, b = kGolden, fa = f(a), fb = f(b);
  double best = std::min({f(0.0), f(1.0), fa, fb});
  for (int i = 0; i < steps; ++i)
    if (fa <= fb) {
      high = b, b = a, fb = fa;
      a = high - kGolden * (high - low);
      fa = f(a);
      best = std::min(best, fa);
    } else {
      low = a, a = b, fa = fb;
      b = low + kGolden * (high - low);
      fb = f(b);
      best = std::min(best, fb);
    }
  return best;
}

inline double slow_point_segment(const dvec3& at, const dvec3& p, const dvec3& q) {
  const dvec3 d = q - p;
  const double dd = glm::dot(d, d), u = dd > 0.0 ? std::clamp(glm::dot(at - p, d) / dd, 0.0, 1.0) : 0.0;
  return glm::distance(at, p + u * d);
}

// Treats the triangle as the set of segments between its sides a-b and a-c, all parallel to b-c.
inline double slow_point_triangle(const dvec3& at, const Triangle& t) {
  return least_over_unit(
      [&](double v) { return slow_point_segment(at, glm::mix(t.a, t.b, v), glm::mix(t.a, t.c, v)); });
}

inline double slow_segment_triangle(const dvec3& p, const dvec3& q, const Triangle& t) {
  return least_over_unit([&](double u) { return slow_point_triangle(glm::mix(p, q, u), t); });
}

inline double slow_triangles(const Triangle& s, const Triangle& t) {
  return least_over_unit(
      [&](double v) { return slow_segment_triangle(glm::mix(s.a, s.b, v), glm::mix(s.a, s.c, v), t); });
}

}  // namespace trocar::test
