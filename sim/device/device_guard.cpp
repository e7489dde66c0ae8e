#include "sim/device/device_guard.hpp"

#include <algorithm>
#include <cmath>

namespace trocar {
namespace {

glm::dvec3 blended(const glm::dvec3& from, const glm::dvec3& to, double share) { return from + share * (to - from); }

// Interpolation between opposite directions is undefined: the result is `to`.
glm::dvec3 blended_direction(const glm::dvec3& from, const glm::dvec3& to, double share) {
  const glm::dvec3 between = blended(from, to, share);
  return glm::length(between) > 1e-3 ? glm::normalize(between) : to;
}

DevicePose blended(const DevicePose& from, const DevicePose& to, double share) {
  const glm::dvec3 shaft_from = from.tip - from.pivot, shaft_to = to.tip - to.pivot;
  const double depth_from = glm::length(shaft_from), depth_to = glm::length(shaft_to);
  DevicePose pose;
  pose.pivot = blended(from.pivot, to.pivot, share);
  const glm::dvec3 direction = blended_direction(shaft_from / depth_from, shaft_to / depth_to, share);
  pose.tip = pose.pivot + (depth_from + share * (depth_to - depth_from)) * direction;
  pose.roll_deg = from.roll_deg + share * (to.roll_deg - from.roll_deg);
  pose.grip = from.grip + share * (to.grip - from.grip);
  pose.grip_force = to.grip_force;
  return pose;
}

}  // namespace

bool usable(const DevicePose& pose) {
  // The volume around a tip extends beyond the tip, so the tip must stay clear of the limit of coordinates.
  constexpr double kFarthest = kLargestCoordinate - 1.0;  // m
  return std::isfinite(pose.roll_deg + pose.grip + pose.grip_force) &&
         pose_fault({pose.pivot, pose.tip, ToolPose{}.radius}).empty() &&
         glm::all(glm::lessThanEqual(glm::max(glm::abs(pose.pivot), glm::abs(pose.tip)), glm::dvec3(kFarthest)));
}

DeviceGuard::DeviceGuard(std::unique_ptr<Device> device, const DevicePose& start, const GuardParams& params)
    : params_(params), device_(std::move(device)), state_{.last = start, .frozen = start} {}

std::optional<DevicePose> DeviceGuard::read(const FrameClock& clock) {
  const DevicePose given = device_->pose(clock);
  DevicePose pose = given;
  bool sound = device_->health() == DeviceHealth::Good && can_take(given);
  if (sound && state_.failed) begin_return(given, clock.time);
  if (sound && state_.returning) {
    pose = return_pose(given, clock.time);
    sound = can_take(pose);
  }
  if (!sound) {
    fail();
    return {};
  }
  state_.last = pose;
  state_.last.energy = pedal(given.energy);
  return state_.last;
}

// A step slides the shaft through the new pivot, in which the tip before must not be.
bool DeviceGuard::can_take(const DevicePose& pose) const {
  return usable(pose) && glm::length(state_.last.tip - pose.pivot) >= kShortestShaft;
}

void DeviceGuard::suspend() {
  if (!device_->follows_ticks()) fail();
}

void DeviceGuard::fail() {
  state_.failed = true;
  state_.returning = false;
  state_.pedal_blocked = true;
}

void DeviceGuard::begin_return(const DevicePose& given, double time) {
  state_.failed = false;
  state_.returning = true;
  state_.frozen = state_.last;
  state_.since = time;
  state_.duration = std::clamp(std::max(glm::length(given.tip - state_.last.tip) / params_.tip_speed,
                                        std::abs(given.roll_deg - state_.last.roll_deg) / params_.roll_speed_deg),
                               1e-3, params_.longest_way_back);
}

DevicePose DeviceGuard::return_pose(const DevicePose& given, double time) {
  const double share = std::max(time - state_.since, 0.0) / state_.duration;
  if (share < 1.0) return blended(state_.frozen, given, share);
  state_.returning = false;
  return given;
}

Diathermy DeviceGuard::pedal(Diathermy pressed) {
  if (!state_.returning && pressed == Diathermy::Off) state_.pedal_blocked = false;
  return state_.pedal_blocked ? Diathermy::Off : pressed;
}

}  // namespace trocar
