#include "sim/device/gamepad_device.hpp"

#include <algorithm>

#include "geometry/elementary.hpp"

namespace trocar {
namespace {

enum Axis : std::size_t { kLeftX, kLeftY, kRightX, kRightY, kLeftTrigger, kRightTrigger };
enum Button : std::size_t { kA = 0, kB = 1, kLeftShoulder = 4, kRightShoulder = 5 };

double pressed(float trigger) { return std::clamp(0.5 * (static_cast<double>(trigger) + 1.0), 0.0, 1.0); }

}  // namespace

glm::dvec2 stick_rate(const GamepadParams& params, double x, double y) {
  const double deflection = std::min(elementary::hypot(x, y), 1.0);
  if (!(deflection > params.dead_zone)) return glm::dvec2(0.0);
  const double share = elementary::pow((deflection - params.dead_zone) / (1.0 - params.dead_zone), params.curve);
  return share * glm::normalize(glm::dvec2(x, y));
}

GamepadDevice::GamepadDevice(const HeldTool& tool, GamepadSource source, const GamepadParams& params)
    : RateDevice(tool, params.fulcrum), params_(params), source_(std::move(source)) {}

DevicePose GamepadDevice::pose(const FrameClock& clock) {
  const GamepadState state = source_();
  const double dt = begin_pose(clock, state.connected);
  if (!connected()) return follow(1.0);
  const auto axis = [&](Axis which) { return static_cast<double>(state.axes[which]); };
  const glm::dvec2 left = stick_rate(params_, axis(kLeftX), -axis(kLeftY));
  const glm::dvec2 right = stick_rate(params_, axis(kRightX), -axis(kRightY));
  const double swung = glm::radians(params_.swing_rate_deg) * dt;
  swing(swung * left.x, swung * left.y);
  push(params_.insert_rate * dt * right.y);
  const double shoulders = (state.buttons[kRightShoulder] ? 1.0 : 0.0) - (state.buttons[kLeftShoulder] ? 1.0 : 0.0);
  spin(params_.spin_rate_deg * dt * std::clamp(right.x + shoulders, -1.0, 1.0));
  set_jaws(1.0 - pressed(state.axes[kRightTrigger]));
  const bool cut = state.buttons[kA] || pressed(state.axes[kLeftTrigger]) > params_.pedal_threshold;
  set_pedal(pedals(cut, state.buttons[kB]));
  return follow(1.0);
}

}  // namespace trocar
