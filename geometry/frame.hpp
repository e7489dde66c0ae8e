// Defines a rigid placement in space (a rotation, then a translation), rotations about an axis, and perpendicular
// directions. Units: metres, radians. Tested in tests/geometry/elementary_test.cpp and
// tests/geometry/refine_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <glm/gtc/quaternion.hpp>

#include "geometry/elementary.hpp"

namespace trocar {

// world = origin + axes * local.
struct RigidFrame {
  glm::dmat3 axes{1.0};    // a rotation
  glm::dvec3 origin{0.0};  // m

  glm::dvec3 to_world(const glm::dvec3& local) const { return origin + axes * local; }    // of a point, m
  glm::dvec3 to_local(const glm::dvec3& world) const { return (world - origin) * axes; }  // of a point, m
};

// Converts a rigid transform matrix; scale and shear are not allowed.
inline RigidFrame rigid_frame(const glm::dmat4& m) { return {glm::dmat3(m), glm::dvec3(m[3])}; }

// Returns the frame that maps coordinates of `second` to those of `first`.
inline RigidFrame relative(const RigidFrame& first, const RigidFrame& second) {
  const glm::dmat3 inverse = glm::transpose(first.axes);
  return {inverse * second.axes, inverse * (second.origin - first.origin)};
}

// Returns the rotation by `angle` about `axis`, a unit vector.
inline glm::dquat turn_about(const glm::dvec3& axis, double angle) {
  return {elementary::cos(0.5 * angle), elementary::sin(0.5 * angle) * axis};
}

// Returns the cross product with the coordinate axis along which `d` is shortest: never short unless `d` is. Not
// normalised.
inline glm::dvec3 any_perpendicular(const glm::dvec3& d) {
  const glm::dvec3 size = glm::abs(d);
  const glm::dvec3 axis = size.x <= size.y && size.x <= size.z ? glm::dvec3(1, 0, 0)
                          : size.y <= size.z                   ? glm::dvec3(0, 1, 0)
                                                               : glm::dvec3(0, 0, 1);
  return glm::cross(d, axis);
}

}  // namespace trocar
