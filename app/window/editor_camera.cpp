#include "app/window/editor_camera.hpp"

#include <algorithm>
#include <cmath>

namespace trocar {
namespace {

constexpr double kTurnPerPixel_deg = 0.35, kApproachPerNotch = 0.9;
constexpr double kNearest = 0.05, kFarthest = 1.5;  // m
constexpr double kField_deg = 58.0, kRod = 0.1;     // deg, m
constexpr Lens kPinhole{0.0, 10.0};

}  // namespace

void OrbitCamera::turn(double right_pixels, double up_pixels) {
  yaw_deg = std::remainder(yaw_deg - kTurnPerPixel_deg * right_pixels, 360.0);
  pitch_deg = std::clamp(pitch_deg - kTurnPerPixel_deg * up_pixels, -85.0, 85.0);
}

void OrbitCamera::approach(double notches) {
  distance = std::clamp(distance * std::pow(kApproachPerNotch, notches), kNearest, kFarthest);
}

EditorEye OrbitCamera::eye() const {
  const double yaw = glm::radians(yaw_deg), pitch = glm::radians(pitch_deg);
  const glm::dvec3 back(std::cos(pitch) * std::sin(yaw), std::sin(pitch), std::cos(pitch) * std::cos(yaw));
  ScopePose pose = scope_looking_at(target + distance * back, target, 0.0, 0.0, kRod);
  pose.field_of_view_deg = kField_deg;
  return {pose, kPinhole};
}

glm::dvec2 seen_at(const glm::dvec2& pixel, const glm::dvec2& size) {
  return glm::dvec2(2.0 * pixel.x - size.x, size.y - 2.0 * pixel.y) / std::max(size.y, 1.0);
}

glm::dvec2 pixel_at(const glm::dvec2& seen, const glm::dvec2& size) {
  return 0.5 * glm::dvec2(size.x + seen.x * size.y, size.y - seen.y * size.y);
}

Ray ray_through(const EditorEye& eye, const glm::dvec2& pixel, const glm::dvec2& size) {
  const glm::dvec2 pinhole = pinhole_from_seen(eye.lens, seen_at(pixel, size));
  const ScopeAxes axes = axes_of(eye.pose);
  const double slope = std::tan(glm::radians(0.5 * eye.pose.field_of_view_deg));
  return {eye.pose.eye, glm::normalize(axes.forward + slope * (pinhole.x * axes.right + pinhole.y * axes.up))};
}

std::optional<glm::dvec2> pixel_of(const EditorEye& eye, const glm::dvec3& point, const glm::dvec2& size) {
  if (glm::dot(point - eye.pose.eye, axes_of(eye.pose).forward) <= 1e-3) return {};
  return pixel_at(seen_point(eye.pose, eye.lens, point).location, size);
}

std::optional<glm::dvec3> meet_plane(const Ray& ray, const glm::dvec3& point, const glm::dvec3& normal) {
  const double towards = glm::dot(ray.direction, normal);
  if (std::abs(towards) < 1e-6) return {};
  const double t = glm::dot(point - ray.origin, normal) / towards;
  if (!(t > 0.0)) return {};
  return ray.origin + t * ray.direction;
}

}  // namespace trocar
