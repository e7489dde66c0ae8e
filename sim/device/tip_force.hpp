// Computes what a device about the trocar feels. An instrument swings about the trocar, slides through it and turns
// about its shaft; the trocar takes up everything else. One force at the tip and one torque about the shaft therefore
// have the effect of all contacts: with u the direction from trocar to tip at distance d, and force
// F and torque T (about the trocar) of all contacts
//   force = (F . u) u + T x u / d,   twist = T . u
// A force at distance a from the trocar acts at the tip as by a lever, with a / d.
// Units: metres, newtons.   Tested in tests/sim/tip_force_test.cpp
#pragma once

#include <glm/glm.hpp>

#include "geometry/tool_volume.hpp"

namespace trocar {

struct TipForce {
  glm::vec3 force{0.f};  // N
  float twist = 0.f;     // N m, clockwise as seen from the trocar
};

// `torque`: about the pose's pivot, N m. The pose must be valid (pose_fault).
TipForce tip_force(const ToolPose& pose, const glm::vec3& force, const glm::vec3& torque);

}  // namespace trocar
