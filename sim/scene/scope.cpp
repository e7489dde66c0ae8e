#include "sim/scene/scope.hpp"

#include <algorithm>
#include <cmath>

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

}  // namespace trocar
