// Defines the pose of a rigid body: a rotation, then a translation. Units: metres.
#pragma once

#include <glm/glm.hpp>

namespace trocar::solids {

struct RigidPose {
  glm::dmat3 turn{1.0};  // a rotation
  glm::dvec3 at{0.0};    // m

  glm::dvec3 to_world(const glm::dvec3& local) const { return turn * local + at; }
  glm::dvec3 back(const glm::dvec3& world) const { return (world - at) * turn; }
};

// Converts a rigid transform matrix; scale and shear are not allowed.
inline RigidPose rigid_pose(const glm::dmat4& m) { return {glm::dmat3(m), glm::dvec3(m[3])}; }

// Returns the pose that maps coordinates of `second` to those of `first`.
inline RigidPose relative(const RigidPose& first, const RigidPose& second) {
  const glm::dmat3 inverse = glm::transpose(first.turn);
  return {inverse * second.turn, inverse * (second.at - first.at)};
}

}  // namespace trocar::solids
