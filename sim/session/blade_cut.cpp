#include "sim/session/blade_cut.hpp"

#include <algorithm>

#include "geometry/elementary.hpp"
#include "sim/device/tool_shape.hpp"

namespace trocar {
namespace {

// Straight pieces of the sector's round side.
constexpr int kPieces = 4;

}  // namespace

BladeCut blade_cut(const Instrument& instrument) {
  const glm::dmat4 frame = tool_frame(instrument.pose, instrument.roll_deg);
  const double hinge = tip_length(instrument.kind, instrument.radius);
  BladeCut cut;
  cut.origin = glm::vec3(frame * glm::dvec4(0.0, 0.0, hinge, 1.0));
  cut.along = glm::vec3(-frame[2]);
  cut.across = glm::vec3(frame[1]);
  const double half = glm::radians(0.5 * instrument.limits.widest_grip_deg * instrument.opened);
  const auto corner = [&](double radius, double angle) {
    return glm::vec2(radius * elementary::cos(angle), radius * elementary::sin(angle));
  };
  const double first = std::max(hinge - instrument.blades.length, 0.0), last = hinge + instrument.blades.reach;
  cut.outline[cut.corners++] = corner(first, -half);
  for (int k = 0; k <= kPieces; ++k) cut.outline[cut.corners++] = corner(last, half * (2.0 * k / kPieces - 1.0));
  cut.outline[cut.corners++] = corner(first, half);
  return cut;
}

}  // namespace trocar
