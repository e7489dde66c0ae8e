#include "sim/device/tip_force.hpp"

namespace trocar {

TipForce tip_force(const ToolPose& pose, const glm::vec3& force, const glm::vec3& torque) {
  const glm::dvec3 arm = pose.tip - pose.pivot, f(force), t(torque);
  const double depth = glm::length(arm);
  const glm::dvec3 along = arm / depth;
  return {glm::vec3(glm::dot(f, along) * along + glm::cross(t, along) / depth), static_cast<float>(glm::dot(t, along))};
}

}  // namespace trocar
