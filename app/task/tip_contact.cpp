#include "app/task/tip_contact.hpp"

#include <limits>

namespace trocar {

bool touches(const Observation& seen, std::size_t organ, std::size_t tool) {
  return !seen.organs[organ].touches.of_tool(tool).empty();
}

std::optional<glm::vec3> tip_contact(const Observation& seen, std::size_t organ, std::size_t tool) {
  const ToolPose& pose = seen.tools[tool].pose;
  double nearest = pose.radius + kTipReach;
  std::optional<glm::vec3> point;
  for (const Touch& touch : seen.organs[organ].touches.of_tool(tool)) {
    const double distance = glm::distance(glm::dvec3(touch.point), pose.tip);
    if (distance < nearest) nearest = distance, point = touch.point;
  }
  return point;
}

double ratio(double part, double whole) {
  return whole > 0.0 ? part / whole : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace trocar
