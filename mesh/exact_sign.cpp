#include "mesh/exact_sign.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "geometry/exact_sign.hpp"
#include "geometry/planar/polygon.hpp"
#include "mesh/face_tree.hpp"

namespace trocar {

using planar::segments_meet;
using planar::side_of_line;

namespace {

constexpr double kHalfUlp = 0x1p-53;
// Error bound of the determinant in double, relative to the sum of its magnitudes (Shewchuk, section 4).
constexpr double kBound = (7.0 + 56.0 * kHalfUlp) * kHalfUlp;

// Returns whether three signs about the sides of a triangle are those of a point or line inside it, border included.
bool turn_alike(int ab, int bc, int ca) { return (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0); }

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
  return turn_alike(side_of_line(a, b, p), side_of_line(b, c, p), side_of_line(c, a, p));
}

bool meets_in_plane(const glm::vec3& p3, const glm::vec3& q3, const glm::vec3 (&t)[3], int axis) {
  const glm::dvec2 p = without(p3, axis), q = without(q3, axis);
  const glm::dvec2 a = without(t[0], axis), b = without(t[1], axis), c = without(t[2], axis);
  return inside_triangle(p, a, b, c) || segments_meet({p, q}, {a, b}) || segments_meet({p, q}, {b, c}) ||
         segments_meet({p, q}, {c, a});
}

}  // namespace trocar

namespace trocar::solids {
namespace {

using glm::vec3;

bool in_box(const vec3& p, const vec3& a, const vec3& b) {
  return glm::all(glm::lessThanEqual(glm::min(a, b), p)) && glm::all(glm::lessThanEqual(p, glm::max(a, b)));
}

bool segments_meet(const vec3& p, const vec3& q, const vec3& a, const vec3& b) {
  if (exact_orientation(p, q, a, b) != 0) return false;
  for (const auto& [i, j, k] : {std::array{p, q, a}, std::array{p, q, b}, std::array{a, b, p}, std::array{a, b, q}}) {
    const int axis = projection_axis(i, j, k);
    if (axis >= 0)
      return planar::segments_meet({without(p, axis), without(q, axis)}, {without(a, axis), without(b, axis)});
  }
  return in_box(a, p, q) || in_box(b, p, q) || in_box(p, a, b) || in_box(q, a, b);
}

bool meets_a_side(const vec3& p, const vec3& q, const FloatTriangle& t) {
  return segments_meet(p, q, t.a, t.b) || segments_meet(p, q, t.b, t.c) || segments_meet(p, q, t.c, t.a);
}

}  // namespace

EdgeContact exact_edge_contact(const vec3& from, const vec3& to, const FloatTriangle& t) {
  const int side_from = exact_orientation(t.a, t.b, t.c, from), side_to = exact_orientation(t.a, t.b, t.c, to);
  if (side_from * side_to > 0) return EdgeContact::Apart;
  if (side_from == 0 && side_to == 0) {
    const int axis = projection_axis(t.a, t.b, t.c);
    const bool meets = axis >= 0 ? meets_in_plane(from, to, {t.a, t.b, t.c}, axis) : meets_a_side(from, to, t);
    return meets ? EdgeContact::InPlane : EdgeContact::Apart;
  }
  const int ab = exact_orientation(from, to, t.a, t.b), bc = exact_orientation(from, to, t.b, t.c),
            ca = exact_orientation(from, to, t.c, t.a);
  if (!turn_alike(ab, bc, ca)) return EdgeContact::Apart;
  if (side_from == 0 || side_to == 0) return EdgeContact::EndOn;
  return ab != 0 && bc != 0 && ca != 0 ? EdgeContact::Crosses : EdgeContact::Border;
}

bool faces_cross_exactly(const glm::vec3 (&first)[3], const glm::vec3 (&second)[3]) {
  const auto any_edge_meets = [](const glm::vec3(&edges)[3], const glm::vec3(&face)[3]) {
    const auto meets = [&](const glm::vec3& from, const glm::vec3& to) {
      return exact_edge_contact(from, to, {face[0], face[1], face[2]}) != EdgeContact::Apart;
    };
    return meets(edges[0], edges[1]) || meets(edges[1], edges[2]) || meets(edges[2], edges[0]);
  };
  return any_edge_meets(first, second) || any_edge_meets(second, first);
}

bool exactly_on(const vec3& point, const FloatTriangle& t) {
  if (exact_orientation(t.a, t.b, t.c, point) != 0) return false;
  const int axis = projection_axis(t.a, t.b, t.c);
  if (axis < 0) return meets_a_side(point, point, t);
  return inside_triangle(without(point, axis), without(t.a, axis), without(t.b, axis), without(t.c, axis));
}

}  // namespace trocar::solids

namespace trocar {
namespace {

using Corners = glm::vec3[3];

// Least height of a face with area, as a fraction of its longest side. Slivers of real organs and instruments,
// flattened by a program and by rounding, lie below it. Only the face's own sides count, so the result does not depend
// on the face's distance from the origin, except for the rounding of its stored corners.
constexpr double kLeastHeight = 1e-5;

// Returns whether the segment meets the triangle. side_p, side_q: the sides of the triangle's plane on which the ends
// lie.
bool segment_meets(const glm::vec3& p, const glm::vec3& q, int side_p, int side_q, const Corners& t) {
  if (side_p * side_q > 0) return false;
  if (side_p == 0 && side_q == 0) return meets_in_plane(p, q, t, projection_axis(t[0], t[1], t[2]));
  return turn_alike(exact_orientation(p, q, t[0], t[1]), exact_orientation(p, q, t[1], t[2]),
                    exact_orientation(p, q, t[2], t[0]));
}

struct Sides {
  int of[3];
  bool apart() const { return of[0] != 0 && of[0] == of[1] && of[1] == of[2]; }
};

Sides sides_of(const Corners& points, const Corners& plane) {
  Sides sides{};
  for (int i = 0; i < 3; ++i) sides.of[i] = exact_orientation(plane[0], plane[1], plane[2], points[i]);
  return sides;
}

// Tests every edge of each triangle against the other.
bool strangers_cross(const Corners& s, const Corners& t) {
  const Sides of_t = sides_of(t, s);
  if (of_t.apart()) return false;
  const Sides of_s = sides_of(s, t);
  if (of_s.apart()) return false;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3;
    if (segment_meets(t[i], t[j], of_t.of[i], of_t.of[j], s)) return true;
    if (segment_meets(s[i], s[j], of_s.of[i], of_s.of[j], t)) return true;
  }
  return false;
}

// Tests two triangles with one common corner, s[0] = t[0]. If they share more than the corner, the common part leaves
// one triangle through the edge opposite to the corner.
bool corner_neighbours_cross(const Corners& s, const Corners& t) {
  const Sides of_t = sides_of(t, s);
  if (of_t.of[1] * of_t.of[2] > 0) return false;
  const Sides of_s = sides_of(s, t);
  if (of_s.of[1] * of_s.of[2] > 0) return false;
  return segment_meets(t[1], t[2], of_t.of[1], of_t.of[2], s) || segment_meets(s[1], s[2], of_s.of[1], of_s.of[2], t);
}

// Tests two triangles with a common edge, s[0] = t[0] and s[1] = t[1]. They overlap only when they are folded flat onto
// each other.
bool edge_neighbours_cross(const Corners& s, const Corners& t) {
  if (exact_orientation(s[0], s[1], s[2], t[2]) != 0) return false;
  const int axis = projection_axis(s[0], s[1], s[2]);
  const glm::dvec2 a = without(s[0], axis), b = without(s[1], axis);
  return planar::side_of_line(a, b, without(s[2], axis)) == planar::side_of_line(a, b, without(t[2], axis));
}

}  // namespace

bool has_area(const glm::vec3& a, const glm::vec3& b, const glm::vec3& c) {
  const glm::dvec3 ab = glm::dvec3(b) - glm::dvec3(a), bc = glm::dvec3(c) - glm::dvec3(b),
                   ca = glm::dvec3(a) - glm::dvec3(c);
  const double longest = std::max({glm::length(ab), glm::length(bc), glm::length(ca)});
  return glm::length(glm::cross(ab, ca)) > kLeastHeight * longest * longest;
}

Contact contact_of(const glm::vec3 (&first)[3], const glm::vec3 (&second)[3]) {
  Corners s = {first[0], first[1], first[2]}, t = {second[0], second[1], second[2]};
  int common = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = common; j < 3; ++j) {
      if (s[i] != t[j]) continue;
      std::swap(s[i], s[common]);
      std::swap(t[j], t[common]);
      ++common;
      break;
    }
  }
  if (common == 0) return strangers_cross(s, t) ? Contact::Crossing : Contact::None;
  const bool folded = common == 1 ? corner_neighbours_cross(s, t) : common == 2 && edge_neighbours_cross(s, t);
  return folded ? Contact::Folded : Contact::None;
}

SelfCrossings self_crossings(const MeshView& mesh, std::size_t listed) {
  SelfCrossings result;
  if (mesh.faces.empty()) return result;
  std::vector<bool> flat(mesh.faces.size());
  const auto corner = [&mesh](std::uint32_t face, int c) { return mesh.positions[mesh.faces[face][c]]; };
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f) flat[f] = !has_area(corner(f, 0), corner(f, 1), corner(f, 2));
  for_each_overlapping_pair(build_face_tree(mesh), [&](std::uint32_t f, std::uint32_t g) {
    if (flat[f] || flat[g]) return;
    const Corners s = {corner(f, 0), corner(f, 1), corner(f, 2)}, t = {corner(g, 0), corner(g, 1), corner(g, 2)};
    const Contact contact = contact_of(s, t);
    if (contact == Contact::None) return;
    contact == Contact::Crossing ? ++result.crossing : ++result.folded;
    result.pairs.emplace_back(f, g);
  });
  std::sort(result.pairs.begin(), result.pairs.end());
  result.pairs.resize(std::min(listed, result.pairs.size()));
  return result;
}

}  // namespace trocar
