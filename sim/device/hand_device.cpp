#include "sim/device/hand_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "geometry/elementary.hpp"

namespace trocar {
namespace {

// Tolerance for rounding when the start is compared with the limits.
constexpr double kSlack = 1e-9;

RemoteCentre centre_of(const HeldTool& tool) {
  return remote_centre(tool.pivot, tool.axis == glm::dvec3(0.0) ? tool.tip - tool.pivot : tool.axis);
}

Joints start_of(const HeldTool& tool) {
  return joints_of(centre_of(tool), tool.limits, {tool.pivot, tool.tip, tool.spin_deg});
}

bool within(double value, double low, double high) { return value >= low - kSlack && value <= high + kSlack; }

}  // namespace

std::string start_fault(const HeldTool& tool) {
  const JointLimits& limits = tool.limits;
  const Joints start = start_of(tool);
  if (!within(start.depth, limits.shallowest, limits.deepest))
    return fmt::format("its tip starts {:.0f} mm beyond the trocar, but its limits are {:.0f} to {:.0f} mm",
                       start.depth * 1e3, limits.shallowest * 1e3, limits.deepest * 1e3);
  if (!within(start.pan_deg, -limits.pan_deg, limits.pan_deg))
    return fmt::format("it starts at a pan of {:.0f} degrees, but its limits are -{:.0f} to {:.0f}", start.pan_deg,
                       limits.pan_deg, limits.pan_deg);
  if (!within(start.tilt_deg, limits.lowest_tilt_deg, limits.highest_tilt_deg))
    return fmt::format("it starts at a tilt of {:.0f} degrees, but its limits are {:.0f} to {:.0f}", start.tilt_deg,
                       limits.lowest_tilt_deg, limits.highest_tilt_deg);
  return {};
}

HandDevice::HandDevice(const HeldTool& tool, bool fulcrum)
    : centre_(centre_of(tool)),
      limits_(tool.limits),
      axes_(tool.axes),
      joints_(limited(limits_, start_of(tool))),
      direction_(direction_of(centre_, joints_)),
      depth_(joints_.depth),
      fulcrum_(fulcrum) {}

void HandDevice::set_screen(const glm::dvec3& right, const glm::dvec3& up) {
  right_ = right;
  up_ = up;
}

void HandDevice::swing(double right, double up) {
  if (right == 0.0 && up == 0.0) return;
  const glm::dvec3 across = axes_.right * right * right_ + axes_.up * up * up_;
  const glm::dvec3 swung = direction_of(centre_, joints_) + (fulcrum_ ? -1.0 : 1.0) * across;
  if (!(glm::length(swung) > 1e-6) || !std::isfinite(right + up)) return;
  joints_ = limited(limits_, aimed(centre_, joints_, swung), joints_);
}

void HandDevice::push(double metres) {
  Joints wanted = joints_;
  wanted.depth += axes_.in * metres;
  joints_ = limited(limits_, wanted, joints_);
}

void HandDevice::spin(double degrees) {
  if (std::isfinite(degrees)) joints_.spin_deg += axes_.roll * degrees;
}

void HandDevice::set_jaws(double grip) {
  Joints wanted = joints_;
  wanted.grip_deg = grip * limits_.widest_grip_deg;
  joints_ = limited(limits_, wanted, joints_);
}

void HandDevice::set_joints(const Joints& joints) {
  Joints wanted = joints;
  wanted.grip_deg = joints_.grip_deg;
  joints_ = limited(limits_, wanted, joints_);
}

DevicePose HandDevice::follow(double share) {
  direction_ = glm::normalize(direction_ + share * (direction_of(centre_, joints_) - direction_));
  depth_ += share * (joints_.depth - depth_);
  return {centre_.pivot, centre_.pivot + depth_ * direction_, joints_.spin_deg,
          joints_.grip_deg / limits_.widest_grip_deg, pedal_};
}

double RateDevice::begin_pose(const FrameClock& clock, bool connected) {
  constexpr double kLongestStep = 0.1;  // s
  const double dt = started_ ? std::clamp(clock.time - time_, 0.0, kLongestStep) : 0.0;
  time_ = clock.time;
  started_ = true;
  connected_ = connected;
  if (!connected_) set_pedal(Diathermy::Off);
  return dt;
}

HeldTool held_tool(const InstrumentScene& scene) {
  return {scene.pivot, scene.tip,         scene.axis, scene.limits, 0.0, scene.kind != InstrumentKind::Scissors,
          scene.axes,  scene.registration};
}

HeldTool held_tool(const ScopeScene& scene) {
  const ScopePose pose = scene.pose();
  return {pose.port, pose.eye, glm::dvec3(0.0), scene.limits, pose.spin_deg, true, scene.axes, scene.registration};
}

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
