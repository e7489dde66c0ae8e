#include "sim/scene/scope.hpp"

#include <algorithm>
#include <cmath>
#include <glm/gtc/matrix_transform.hpp>

#include "geometry/elementary.hpp"

namespace trocar {
namespace {

// Steepest rod for which rod_axes() uses the world's y axis as up.
constexpr double kSteepest = 1.5566;  // rad

struct RodAxes {
  glm::dvec3 along, right, up;
};

RodAxes rod_axes(const glm::dvec3& along) {
  const glm::dvec3 world_up = std::abs(along.y) < 0.9999 ? glm::dvec3(0, 1, 0) : glm::dvec3(0, 0, -1);
  const glm::dvec3 right = glm::normalize(glm::cross(along, world_up));
  return {along, right, glm::cross(right, along)};
}

}  // namespace

ScopeAxes axes_of(const ScopePose& pose) {
  const RodAxes rod = rod_axes(glm::normalize(pose.eye - pose.port));
  const double angle = glm::radians(pose.angle_deg), spin = glm::radians(pose.spin_deg);
  const glm::dvec3 aside = elementary::cos(spin) * rod.up + elementary::sin(spin) * rod.right;
  const glm::dvec3 forward = glm::normalize(elementary::cos(angle) * rod.along + elementary::sin(angle) * aside);
  const RodAxes view = rod_axes(forward);
  return {forward, view.right, view.up};
}

// The solution has a closed form: let t be the rod's elevation above the horizontal plane, h its horizontal heading and
// w = h x up its right.
// Then view . up = cos(angle) sin(t) + sin(angle) cos(spin) cos(t)   gives t, and
//   view = .. h + sin(angle) sin(spin) w                              in the horizontal plane gives h.
ScopePose scope_looking_at(const glm::dvec3& eye, const glm::dvec3& target, double angle_deg, double spin_deg,
                           double rod) {
  const glm::dvec3 wanted = glm::normalize(target - eye), up(0, 1, 0);
  const double angle = glm::radians(angle_deg), spin = glm::radians(spin_deg);
  const double straight = elementary::cos(angle), lifted = elementary::sin(angle) * elementary::cos(spin);
  const double rise = elementary::asin(std::clamp(wanted.y / elementary::hypot(straight, lifted), -1.0, 1.0)) -
                      elementary::atan2(lifted, straight);
  const double t = std::clamp(rise, -kSteepest, kSteepest);
  const double ahead = straight * elementary::cos(t) - lifted * elementary::sin(t),
               aside = elementary::sin(angle) * elementary::sin(spin);
  const glm::dvec3 level = wanted - wanted.y * up;
  const glm::dvec3 heading = ahead * level - aside * glm::cross(level, up);
  const double length = glm::length(heading);
  const glm::dvec3 h = length > 1e-12 ? heading / length : glm::dvec3(0, 0, -1);
  const glm::dvec3 along = angle_deg == 0.0 ? wanted : elementary::cos(t) * h + elementary::sin(t) * up;
  return {eye - rod * along, eye, spin_deg, angle_deg, 60.0};
}

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
