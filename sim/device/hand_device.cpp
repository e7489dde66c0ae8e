#include "sim/device/hand_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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
      fulcrum_(fulcrum) {
  const glm::dvec3 shaft = pose_of(centre_, limits_, joints_).tip - centre_.pivot;
  depth_ = glm::length(shaft);
  direction_ = shaft / depth_;
}

void HandDevice::set_screen(const glm::dvec3& right, const glm::dvec3& up) {
  right_ = right;
  up_ = up;
}

void HandDevice::swing(double right, double up) {
  if (right == 0.0 && up == 0.0) return;
  const glm::dvec3 shaft = pose_of(centre_, limits_, joints_).tip - centre_.pivot;
  const glm::dvec3 across = axes_.right * right * right_ + axes_.up * up * up_;
  const glm::dvec3 swung = glm::normalize(shaft) + (fulcrum_ ? -1.0 : 1.0) * across;
  if (!(glm::length(swung) > 1e-6) || !std::isfinite(right + up)) return;
  Joints wanted = joints_of(centre_, limits_, {centre_.pivot, centre_.pivot + swung});
  wanted.depth = joints_.depth;
  wanted.spin_deg = joints_.spin_deg;
  wanted.grip_deg = joints_.grip_deg;
  joints_ = limited(limits_, wanted, joints_);
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

DevicePose HandDevice::follow(double share) {
  DevicePose pose = pose_of(centre_, limits_, joints_);
  const glm::dvec3 wanted = (pose.tip - pose.pivot) / joints_.depth;
  direction_ = glm::normalize(direction_ + share * (wanted - direction_));
  depth_ += share * (joints_.depth - depth_);
  pose.tip = pose.pivot + depth_ * direction_;
  pose.energy = pedal_;
  return pose;
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

}  // namespace trocar
