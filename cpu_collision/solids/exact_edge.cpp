#include "cpu_collision/solids/exact_edge.hpp"

#include <array>

#include "geometry/planar/polygon.hpp"
#include "mesh/exact_sign.hpp"

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
  const bool through = (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0);
  if (!through) return EdgeContact::Apart;
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
