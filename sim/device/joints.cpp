#include "sim/device/joints.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/elementary.hpp"

namespace trocar {
namespace {

double within(double value, double low, double high, double fallback) {
  return std::clamp(std::isfinite(value) ? value : fallback, low, high);
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
  const double spin = glm::radians(joints.spin_deg);
  const double sp = elementary::sin(pan), cp = elementary::cos(pan), st = elementary::sin(tilt),
               ct = elementary::cos(tilt);
  // Columns of Rx(tilt) Ry(pan); Rz(spin) then rotates the first two in their plane.
  const glm::dvec3 x0(cp, st * sp, -ct * sp), y0(0.0, ct, st), z0(sp, -st * cp, ct * cp);
  const glm::dmat3 turned(elementary::cos(spin) * x0 + elementary::sin(spin) * y0,
                          elementary::cos(spin) * y0 - elementary::sin(spin) * x0, z0);
  glm::dmat4 matrix(centre.frame * turned);
  matrix[3] = glm::dvec4(centre.pivot + joints.depth * glm::dvec3(matrix[2]), 1.0);
  return matrix;
}

// The third column of Rx(tilt) Ry(pan) is the direction of the shaft.
DevicePose pose_of(const RemoteCentre& centre, const JointLimits& limits, const Joints& joints) {
  const double pan = glm::radians(joints.pan_deg), tilt = glm::radians(joints.tilt_deg);
  const glm::dvec3 along(elementary::sin(pan), -elementary::sin(tilt) * elementary::cos(pan),
                         elementary::cos(tilt) * elementary::cos(pan));
  DevicePose pose;
  pose.pivot = centre.pivot;
  pose.tip = centre.pivot + joints.depth * (centre.frame * along);
  pose.roll_deg = joints.spin_deg;
  pose.grip = joints.grip_deg / limits.widest_grip_deg;
  return pose;
}

Joints joints_of(const RemoteCentre& centre, const JointLimits& limits, const DevicePose& pose) {
  const glm::dvec3 shaft = glm::transpose(centre.frame) * (pose.tip - pose.pivot);
  Joints joints;
  joints.depth = glm::length(shaft);
  joints.pan_deg = glm::degrees(elementary::atan2(shaft.x, elementary::hypot(shaft.y, shaft.z)));
  joints.tilt_deg = glm::degrees(elementary::atan2(-shaft.y, shaft.z));
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
