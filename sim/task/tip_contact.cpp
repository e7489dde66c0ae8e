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
  const SeenOrgan& organ_seen = seen.organs[organ];
  const TouchList& list = organ_seen.touches;
  for (std::uint32_t i = list.first[tool]; i < list.first[tool + 1]; ++i) {
    if (!organ_seen.part.empty() && organ_seen.part[i] > 0) return true;
    if (glm::distance(glm::dvec3(list.touches[i].point), pose.tip) <= pose.radius + kTipReach) return true;
  }
  return false;
}

double beside(double distance, double radius) {
  return std::sqrt(std::max(0.0, (distance - radius) * (distance + radius)));
}

double ratio(double part, double whole) {
  return whole > 0.0 ? part / whole : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace trocar
