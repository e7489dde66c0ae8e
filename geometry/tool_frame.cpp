#include "geometry/tool_frame.hpp"

#include <algorithm>

#include "geometry/turn.hpp"

namespace trocar {

using glm::dvec3;

RigidFrame tool_frame(const ToolPose& pose, double roll) {
  const dvec3 z = glm::normalize(pose.pivot - pose.tip);
  const double q = 1.0 / std::max(1.0 + z.z, 1e-9);
  const dvec3 side(1.0 - z.x * z.x * q, -z.x * z.y * q, -z.x);
  // Near -z the formula has lost its digits.
  const dvec3 x = glm::normalize(1.0 + z.z < 1e-6 ? side - glm::dot(side, z) * z : side);
  // The roll is about the direction from trocar to tip.
  const glm::dmat3 turn = glm::mat3_cast(turn_about(dvec3(0, 0, 1), -roll));
  return {glm::dmat3(x, glm::cross(z, x), z) * turn, pose.tip - pose.radius * z};
}

}  // namespace trocar
