#include "app/scope/scope.hpp"

#include <cmath>

namespace trocar {
namespace {

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
  const glm::dvec3 aside = std::cos(spin) * rod.up + std::sin(spin) * rod.right;
  const glm::dvec3 forward = glm::normalize(std::cos(angle) * rod.along + std::sin(angle) * aside);
  const RodAxes view = rod_axes(forward);
  return {forward, view.right, view.up};
}

ScopePose scope_looking_at(const glm::dvec3& eye, const glm::dvec3& target, double angle_deg, double spin_deg,
                           double rod) {
  const glm::dvec3 wanted = glm::normalize(target - eye);
  ScopePose pose{eye - rod * wanted, eye, spin_deg, angle_deg, 60.0};
  // The rod's own axes turn with it: a few rounds of turning the rod by what is missing.
  for (int round = 0; round < 60; ++round) {
    const glm::dvec3 seen = axes_of(pose).forward, axis = glm::cross(seen, wanted);
    const double sine = glm::length(axis);
    if (sine < 1e-15) break;
    const double angle = std::atan2(sine, glm::dot(seen, wanted));
    const glm::dvec3 along = glm::normalize(pose.eye - pose.port), n = axis / sine;
    const glm::dvec3 turned = std::cos(angle) * along + std::sin(angle) * glm::cross(n, along) +
                              (1.0 - std::cos(angle)) * glm::dot(n, along) * n;
    pose.port = eye - rod * glm::normalize(turned);
  }
  return pose;
}

}  // namespace trocar
