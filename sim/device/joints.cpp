#include "sim/device/joints.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/elementary.hpp"

namespace trocar {
namespace {

double within(double value, double low, double high, double fallback) {
  return std::clamp(std::isfinite(value) ? value : fallback, low, high);
}

// `x`, `y`, `z`: columns of Rx(tilt) Ry(pan); Rz(spin) then rotates the first two in their plane.
glm::dmat4 spun(const RemoteCentre& centre, double spin_deg, const glm::dvec3& x, const glm::dvec3& y,
                const glm::dvec3& z, const glm::dvec3& tip) {
  const double spin = glm::radians(spin_deg), ss = elementary::sin(spin), cs = elementary::cos(spin);
  glm::dmat4 matrix(centre.frame * glm::dmat3(cs * x + ss * y, cs * y - ss * x, z));
  matrix[3] = glm::dvec4(tip, 1.0);
  return matrix;
}

}  // namespace

RemoteCentre remote_centre(const glm::dvec3& pivot, const glm::dvec3& axis) {
  const glm::dvec3 z = glm::normalize(axis);
  const glm::dvec3 head = std::abs(z.y) < 0.9999 ? glm::dvec3(0, 1, 0) : glm::dvec3(0, 0, 1);
  const glm::dvec3 x = glm::normalize(glm::cross(head, z));
  return {pivot, glm::dmat3(x, glm::cross(z, x), z)};
}

glm::dmat4 matrix_of(const RemoteCentre& centre, const Joints& joints) {
  const double pan = glm::radians(joints.pan_deg), tilt = glm::radians(joints.tilt_deg);
  const double sp = elementary::sin(pan), cp = elementary::cos(pan), st = elementary::sin(tilt),
               ct = elementary::cos(tilt);
  const glm::dvec3 z(sp, -st * cp, ct * cp);
  return spun(centre, joints.spin_deg, {cp, st * sp, -ct * sp}, {0.0, ct, st}, z,
              centre.pivot + joints.depth * (centre.frame * z));
}

// The direction of the shaft is the third column of Rx(tilt) Ry(pan); the other two follow from it.
glm::dmat4 matrix_of(const RemoteCentre& centre, const DevicePose& pose) {
  const glm::dvec3 z = glm::normalize(glm::transpose(centre.frame) * (pose.tip - pose.pivot));
  const double cp = elementary::hypot(z.y, z.z), st = cp > 0.0 ? -z.y / cp : 0.0, ct = cp > 0.0 ? z.z / cp : 1.0;
  return spun(centre, pose.roll_deg, {cp, st * z.x, -ct * z.x}, {0.0, ct, st}, z, pose.tip);
}

glm::dvec3 direction_of(const RemoteCentre& centre, const Joints& joints) {
  const double pan = glm::radians(joints.pan_deg), tilt = glm::radians(joints.tilt_deg);
  return centre.frame * glm::dvec3(elementary::sin(pan), -elementary::sin(tilt) * elementary::cos(pan),
                                   elementary::cos(tilt) * elementary::cos(pan));
}

Joints aimed(const RemoteCentre& centre, const Joints& joints, const glm::dvec3& direction) {
  const glm::dvec3 shaft = glm::transpose(centre.frame) * direction;
  Joints result = joints;
  result.pan_deg = glm::degrees(elementary::atan2(shaft.x, elementary::hypot(shaft.y, shaft.z)));
  result.tilt_deg = glm::degrees(elementary::atan2(-shaft.y, shaft.z));
  return result;
}

DevicePose pose_of(const RemoteCentre& centre, const JointLimits& limits, const Joints& joints) {
  DevicePose pose;
  pose.pivot = centre.pivot;
  pose.tip = centre.pivot + joints.depth * direction_of(centre, joints);
  pose.roll_deg = joints.spin_deg;
  pose.grip = joints.grip_deg / limits.widest_grip_deg;
  return pose;
}

Joints joints_of(const RemoteCentre& centre, const JointLimits& limits, const DevicePose& pose) {
  const glm::dvec3 shaft = pose.tip - pose.pivot;
  Joints joints = aimed(centre, {}, shaft);
  joints.depth = glm::length(glm::transpose(centre.frame) * shaft);
  joints.spin_deg = pose.roll_deg;
  joints.grip_deg = pose.grip * limits.widest_grip_deg;
  return joints;
}

Joints limited(const JointLimits& limits, const Joints& joints, const Joints& fallback) {
  Joints result;
  result.pan_deg = within(joints.pan_deg, -limits.pan_deg, limits.pan_deg, fallback.pan_deg);
  result.tilt_deg = within(joints.tilt_deg, limits.lowest_tilt_deg, limits.highest_tilt_deg, fallback.tilt_deg);
  result.spin_deg = std::isfinite(joints.spin_deg) ? joints.spin_deg : fallback.spin_deg;
  result.depth = within(joints.depth, limits.shallowest, limits.deepest, fallback.depth);
  result.grip_deg = within(joints.grip_deg, 0.0, limits.widest_grip_deg, fallback.grip_deg);
  return result;
}

}  // namespace trocar
