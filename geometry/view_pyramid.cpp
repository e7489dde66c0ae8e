#include "geometry/view_pyramid.hpp"

#include <algorithm>
#include <cmath>

namespace trocar {

// A point p is in the clip volume where -w <= x, y, z <= w of M p; each bound is a plane, the sum or difference of two
// rows of M.
ViewPyramid view_pyramid(const glm::dmat4& clip_from_world) {
  const glm::dmat4 rows = glm::transpose(clip_from_world);
  ViewPyramid pyramid;
  for (int axis = 0; axis < 3; ++axis) {
    pyramid.planes[2 * axis] = rows[3] + rows[axis];
    pyramid.planes[2 * axis + 1] = rows[3] - rows[axis];
  }
  for (glm::dvec4& plane : pyramid.planes) plane /= glm::length(glm::dvec3(plane));
  return pyramid;
}

bool contains(const ViewPyramid& pyramid, const glm::dvec3& point) { return may_see(pyramid, {point, 0.0}); }

bool may_see(const ViewPyramid& pyramid, const BoundingSphere& sphere) {
  return sphere.radius >= 0.0 &&
         std::none_of(pyramid.planes.begin(), pyramid.planes.end(), [&](const glm::dvec4& plane) {
           return glm::dot(glm::dvec3(plane), sphere.centre) + plane.w < -sphere.radius;
         });
}

BoundingSphere bounding_sphere(std::span<const glm::vec3> points) {
  if (points.empty()) return {glm::dvec3(0.0), -1.0};
  glm::vec3 low = points[0], high = points[0];
  for (const glm::vec3& p : points) {
    low = glm::min(low, p);
    high = glm::max(high, p);
  }
  const glm::dvec3 centre = 0.5 * (glm::dvec3(low) + glm::dvec3(high));
  double square = 0.0;
  for (const glm::vec3& p : points) {
    const glm::dvec3 offset = glm::dvec3(p) - centre;
    square = std::max(square, glm::dot(offset, offset));
  }
  return {centre, std::sqrt(square)};
}

}  // namespace trocar
