#include "deform/box_overlap.hpp"

#include <algorithm>

namespace trocar {
namespace {

bool separates(const glm::dvec3& axis, const Triangle& t, const glm::dvec3& half) {
  const double a = glm::dot(axis, t.a), b = glm::dot(axis, t.b), c = glm::dot(axis, t.c);
  const double support = glm::dot(glm::abs(axis), half);
  return std::min({a, b, c}) > support || std::max({a, b, c}) < -support;
}

}  // namespace

bool triangle_touches_box(const Triangle& triangle, const glm::dvec3& centre, const glm::dvec3& half) {
  const Triangle t{triangle.a - centre, triangle.b - centre, triangle.c - centre};
  const glm::dvec3 sides[3] = {t.b - t.a, t.c - t.b, t.a - t.c};
  const glm::dvec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (const glm::dvec3& axis : axes)
    if (separates(axis, t, half)) return false;
  if (separates(glm::cross(sides[0], sides[1]), t, half)) return false;
  for (const glm::dvec3& axis : axes)
    for (const glm::dvec3& side : sides)
      if (separates(glm::cross(axis, side), t, half)) return false;
  return true;
}

}  // namespace trocar
