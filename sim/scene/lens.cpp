#include "sim/scene/lens.hpp"

#include <cmath>
#include <glm/gtc/matrix_transform.hpp>

#include "geometry/elementary.hpp"

namespace trocar {

namespace {

// Clip planes of the camera for zones and visibility; no result depends on the far plane.
constexpr double kNear = 1e-3, kFar = 2.0;  // m

}  // namespace

glm::dvec2 seen_from_pinhole(const Lens& lens, const glm::dvec2& pinhole) {
  const double squared = glm::dot(pinhole, pinhole);
  return 2.0 / (1.0 + std::sqrt(1.0 + 4.0 * lens.barrel * squared)) * pinhole;
}

glm::dvec2 pinhole_from_seen(const Lens& lens, const glm::dvec2& seen) {
  return seen / (1.0 - lens.barrel * glm::dot(seen, seen));
}

glm::dmat4 view_matrix(const ScopePose& pose) {
  const ScopeAxes axes = axes_of(pose);
  return glm::lookAt(pose.eye, pose.eye + axes.forward, axes.up);
}

glm::dmat4 projection_matrix(const ScopePose& pose, double aspect, double near, double far) {
  const double height = elementary::tan(glm::radians(0.5 * pose.field_of_view_deg));  // half, at depth 1
  glm::dmat4 projection(0.0);
  projection[0][0] = 1.0 / (aspect * height);
  projection[1][1] = 1.0 / height;
  projection[2][2] = -(far + near) / (far - near);
  projection[2][3] = -1.0;
  projection[3][2] = -2.0 * far * near / (far - near);
  return projection;
}

planar::ImageCamera image_camera(const ScopePose& pose, double aspect) {
  return {projection_matrix(pose, aspect, kNear, kFar) * view_matrix(pose), aspect};
}

SeenPoint seen_point(const ScopePose& pose, const Lens& lens, const glm::dvec3& point) {
  const ScopeAxes axes = axes_of(pose);
  const glm::dvec3 from_eye = point - pose.eye;
  const double depth = glm::dot(from_eye, axes.forward);
  if (!(depth > kNear)) return {};
  const double scale = 1.0 / (depth * elementary::tan(glm::radians(0.5 * pose.field_of_view_deg)));
  const glm::dvec2 pinhole = scale * glm::dvec2(glm::dot(from_eye, axes.right), glm::dot(from_eye, axes.up));
  const glm::dvec2 seen = seen_from_pinhole(lens, pinhole);
  return {seen, glm::length(seen) <= lens.field};
}

}  // namespace trocar
