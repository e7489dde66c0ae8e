#include "sim/device/mouse_device.hpp"

#include <algorithm>

#include "geometry/elementary.hpp"

namespace trocar {
namespace {

RatchetParams ratchet_of(const HeldTool& tool, RatchetParams params) {
  params.latches = params.latches && tool.ratchet;
  return params;
}

}  // namespace

MouseDevice::MouseDevice(const HeldTool& tool, const MouseParams& params)
    : HandDevice(tool, params.fulcrum), params_(params), ratchet_(ratchet_of(tool, params.ratchet)) {}

MouseDevice::MouseDevice(const glm::dvec3& pivot, const glm::dvec3& tip, const MouseParams& params)
    : MouseDevice(HeldTool{pivot, tip, glm::dvec3(0.0), {}, 0.0}, params) {}

void MouseDevice::move(double right_pixels, double up_pixels) {
  swing(params_.swing_per_pixel * right_pixels, params_.swing_per_pixel * up_pixels);
}

DevicePose MouseDevice::pose(const FrameClock& clock) {
  const double dt = started_ ? std::max(clock.time - time_, 0.0) : 0.0;
  time_ = clock.time;
  started_ = true;
  ratchet_.advance(time_);
  const double travel = dt / params_.jaw_travel;
  grip_ = ratchet_.closed() ? std::max(grip_ - travel, 0.0) : std::min(grip_ + travel, 1.0);
  set_jaws(grip_);
  DevicePose pose = follow(params_.smoothing > 0.0 ? 1.0 - elementary::exp(-dt / params_.smoothing) : 1.0);
  pose.grip_force = ratchet_.force();
  return pose;
}

}  // namespace trocar
