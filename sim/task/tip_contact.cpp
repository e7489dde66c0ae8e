#include "sim/task/tip_contact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trocar {

bool touches(const Observation& seen, std::size_t organ, std::size_t tool) {
  return !seen.organs[organ].touches.of_tool(tool).empty();
}

bool tip_touches(const Observation& seen, std::size_t organ, std::size_t tool) {
  const ToolPose& pose = seen.tools[tool].pose;
  const auto touched = seen.organs[organ].touches.of_tool(tool);
  return std::any_of(touched.begin(), touched.end(), [&](const Touch& touch) {
    return glm::distance(glm::dvec3(touch.point), pose.tip) <= pose.radius + kTipReach;
  });
}

double beside(double distance, double radius) {
  return std::sqrt(std::max(0.0, (distance - radius) * (distance + radius)));
}

double ratio(double part, double whole) {
  return whole > 0.0 ? part / whole : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace trocar
