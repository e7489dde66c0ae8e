// Defines a rigid placement in space: a rotation, then a translation. Units: metres.
#pragma once

#include <glm/glm.hpp>

namespace trocar {

// world = origin + axes * local.
struct RigidFrame {
  glm::dmat3 axes{1.0};    // a rotation
  glm::dvec3 origin{0.0};  // m

  glm::dvec3 to_world(const glm::dvec3& local) const { return origin + axes * local; }
  glm::dvec3 to_local(const glm::dvec3& world) const { return (world - origin) * axes; }
};

// Converts a rigid transform matrix; scale and shear are not allowed.
inline RigidFrame rigid_frame(const glm::dmat4& m) { return {glm::dmat3(m), glm::dvec3(m[3])}; }

// Returns the frame that maps coordinates of `second` to those of `first`.
inline RigidFrame relative(const RigidFrame& first, const RigidFrame& second) {
  const glm::dmat3 inverse = glm::transpose(first.axes);
  return {inverse * second.axes, inverse * (second.origin - first.origin)};
}

}  // namespace trocar
