#include "sim/device/spacemouse_device.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/elementary.hpp"

namespace trocar {
namespace {

double rate(const SpaceMouseParams& params, int counts) {
  const double deflection = std::clamp(counts / params.full_scale, -1.0, 1.0), size = std::abs(deflection);
  if (!(size > params.dead_zone)) return 0.0;
  return std::copysign(elementary::pow((size - params.dead_zone) / (1.0 - params.dead_zone), params.curve), deflection);
}

}  // namespace

SpaceMouseDevice::SpaceMouseDevice(const HeldTool& tool, SpaceMouseSource source, const SpaceMouseParams& params)
    : RateDevice(tool, params.fulcrum), params_(params), source_(std::move(source)) {}

DevicePose SpaceMouseDevice::pose(const FrameClock& clock) {
  const SpaceMouseState state = source_();
  const double dt = begin_pose(clock, state.connected);
  if (!connected()) return follow(1.0);
  std::array<double, 6> rates;
  std::transform(state.axes.begin(), state.axes.end(), rates.begin(),
                 [&](int counts) { return rate(params_, counts); });
  const double swung = glm::radians(params_.swing_rate_deg) * dt;
  swing(swung * std::clamp(rates[0] + rates[5], -1.0, 1.0), swung * std::clamp(rates[1] + rates[3], -1.0, 1.0));
  push(params_.insert_rate * dt * rates[2]);
  spin(-params_.spin_rate_deg * dt * rates[4]);
  set_jaws(state.buttons[0] ? 0.0 : 1.0);
  set_pedal(pedals(state.buttons[1], state.buttons[2]));
  return follow(1.0);
}

}  // namespace trocar
