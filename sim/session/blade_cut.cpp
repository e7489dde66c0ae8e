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
  const RigidFrame frame = tool_frame(instrument.pose, glm::radians(instrument.roll_deg));
  const double hinge = tip_length(instrument.kind, instrument.radius);
  BladeCut cut;
  cut.origin = glm::vec3(frame.to_world({0.0, 0.0, hinge}));
  cut.along = glm::vec3(-frame.axes[2]);
  cut.across = glm::vec3(frame.axes[1]);
  const double half = glm::radians(0.5 * instrument.limits.widest_grip_deg * instrument.opened);
  const double cosine = elementary::cos(half), sine = elementary::sin(half), reach = instrument.blades.reach;
  const double first = std::max(hinge - instrument.blades.length, 0.0);
  const auto add = [&](double along, double across) { cut.outline[cut.corners++] = glm::vec2(along, across); };
  // The sides of the sector lie `reach` beside the blades, its round side `reach` beyond their tips.
  const auto add_beside = [&](double radius, double side) {
    add(radius * cosine - reach * sine, side * (radius * sine + reach * cosine));
  };
  add_beside(first, -1.0);
  add_beside(hinge, -1.0);
  for (int k = 0; k <= kPieces; ++k) {
    const double angle = half * (2.0 * k / kPieces - 1.0);
    add((hinge + reach) * elementary::cos(angle), (hinge + reach) * elementary::sin(angle));
  }
  add_beside(hinge, 1.0);
  add_beside(first, 1.0);
  return cut;
}

}  // namespace trocar
