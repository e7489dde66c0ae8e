#include "app/device/mouse_device.hpp"

#include <algorithm>
#include <cmath>

namespace trocar {

MouseDevice::MouseDevice(const glm::dvec3& pivot, const glm::dvec3& tip, const MouseParams& params)
    : params_(params),
      pivot_(pivot),
      start_direction_(glm::normalize(tip - pivot)),
      target_direction_(start_direction_),
      direction_(start_direction_),
      target_depth_(glm::length(tip - pivot)),
      depth_(target_depth_) {}

void MouseDevice::set_screen(const glm::dvec3& right, const glm::dvec3& up) {
  right_ = right;
  up_ = up;
}

void MouseDevice::move(double right_pixels, double up_pixels) {
  const glm::dvec3 swung = target_direction_ + params_.swing_per_pixel * (right_pixels * right_ + up_pixels * up_);
  const double length = glm::length(swung);
  if (!(length > 1e-6)) return;
  const glm::dvec3 direction = swung / length;
  if (std::acos(std::clamp(glm::dot(direction, start_direction_), -1.0, 1.0)) <= params_.widest_swing) {
    target_direction_ = direction;
  }
}

void MouseDevice::insert(double notches) {
  target_depth_ = std::clamp(target_depth_ + notches * params_.insert_per_notch, params_.shallowest, params_.deepest);
}

DevicePose MouseDevice::pose(const FrameClock&) {
  const double part = 1.0 - params_.smoothing;
  direction_ = glm::normalize(direction_ + part * (target_direction_ - direction_));
  depth_ += part * (target_depth_ - depth_);
  return {pivot_, pivot_ + depth_ * direction_, roll_deg_, grip_, energy_};
}

}  // namespace trocar
