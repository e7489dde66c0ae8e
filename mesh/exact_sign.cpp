#include "mesh/exact_sign.hpp"

#include <cmath>

#include "geometry/exact_sign.hpp"
#include "geometry/planar/polygon.hpp"

namespace trocar {

using planar::segments_meet;
using planar::side_of_line;

namespace {

constexpr double kHalfUlp = 0x1p-53;
// Error bound of the determinant in double, relative to the sum of its magnitudes (Shewchuk, section 4).
constexpr double kBound = (7.0 + 56.0 * kHalfUlp) * kHalfUlp;

using Sum = ExactSum<64>;  // 24 products of two parts each

// sign * p . (q x r)
void add_triple(Sum& sum, double sign, const glm::dvec3& p, const glm::dvec3& q, const glm::dvec3& r) {
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    sum.add_product(sign * p[i] * q[j], r[k]);
    sum.add_product(-sign * p[i] * q[k], r[j]);
  }
}

int summed_orientation(const glm::dvec3& a, const glm::dvec3& b, const glm::dvec3& c, const glm::dvec3& d) {
  Sum sum;
  add_triple(sum, 1.0, a, b, c);
  add_triple(sum, -1.0, d, b, c);
  add_triple(sum, -1.0, a, d, c);
  add_triple(sum, -1.0, a, b, d);
  return sum.sign();
}

}  // namespace

int exact_orientation(const glm::vec3& a, const glm::vec3& b, const glm::vec3& c, const glm::vec3& d) {
  const glm::dvec3 u = glm::dvec3(a) - glm::dvec3(d), v = glm::dvec3(b) - glm::dvec3(d),
                   w = glm::dvec3(c) - glm::dvec3(d);
  const double vw_x = v.y * w.z, wv_x = v.z * w.y;
  const double vw_y = v.z * w.x, wv_y = v.x * w.z;
  const double vw_z = v.x * w.y, wv_z = v.y * w.x;
  const double determinant = u.x * (vw_x - wv_x) + u.y * (vw_y - wv_y) + u.z * (vw_z - wv_z);
  const double magnitude = std::abs(u.x) * (std::abs(vw_x) + std::abs(wv_x)) +
                           std::abs(u.y) * (std::abs(vw_y) + std::abs(wv_y)) +
                           std::abs(u.z) * (std::abs(vw_z) + std::abs(wv_z));
  if (std::abs(determinant) > kBound * magnitude) return planar::sign_of(determinant);
  return summed_orientation(glm::dvec3(a), glm::dvec3(b), glm::dvec3(c), glm::dvec3(d));
}

int projection_axis(const glm::vec3& a, const glm::vec3& b, const glm::vec3& c) {
  for (int axis = 0; axis < 3; ++axis)
    if (side_of_line(without(a, axis), without(b, axis), without(c, axis)) != 0) return axis;
  return -1;
}

bool inside_triangle(const glm::dvec2& p, const glm::dvec2& a, const glm::dvec2& b, const glm::dvec2& c) {
  const int ab = side_of_line(a, b, p), bc = side_of_line(b, c, p), ca = side_of_line(c, a, p);
  return (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0);
}

bool meets_in_plane(const glm::vec3& p3, const glm::vec3& q3, const glm::vec3 (&t)[3], int axis) {
  const glm::dvec2 p = without(p3, axis), q = without(q3, axis);
  const glm::dvec2 a = without(t[0], axis), b = without(t[1], axis), c = without(t[2], axis);
  return inside_triangle(p, a, b, c) || segments_meet({p, q}, {a, b}) || segments_meet({p, q}, {b, c}) ||
         segments_meet({p, q}, {c, a});
}

}  // namespace trocar
