// What devices in a hand share (mouse, gamepad, SpaceMouse): increments of the hand become joints within their limits.
// The fulcrum: the hand holds the handle, outside the body; the trocar stands still between handle and tip, so the tip
// goes the other way. A hand that moves right and up, as the picture shows it, moves the tip left and down: as at the
// table, and what a trainee has to learn. `fulcrum = false` lets the tip follow the hand instead, for people who have
// to place an instrument quickly and are not training. Pushing in and turning are the same in both.
// An instrument or the scope alike: pivot and tip, or port and eye; roll is the spin.
// Units: metres, degrees, radians where said.   Tested in tests/app/hand_device_test.cpp
#pragma once

#include <string>

#include "app/device/device.hpp"
#include "app/device/joints.hpp"

namespace trocar {

// What the hand takes hold of.
struct HeldTool {
  glm::dvec3 pivot{0.0}, tip{0.0, 0.0, 0.1};  // m   at the start
  glm::dvec3 axis{0.0};                       // 1   direction at zero pan and tilt; zero: that of the tip at the start
  JointLimits limits;
  double spin_deg = 0.0;  // deg  at the start
};

// Empty when the tool starts within its limits; else what is wrong and how to mend it.
std::string start_fault(const HeldTool& tool);

class HandDevice : public Device {
 public:
  HandDevice(const HeldTool& tool, bool fulcrum);

  // `right` and `up` of the picture, in the world: unit vectors.
  void set_screen(const glm::dvec3& right, const glm::dvec3& up);
  void set_fulcrum(bool on) { fulcrum_ = on; }
  bool fulcrum() const { return fulcrum_; }

  // Where the hand wants the instrument; within the limits.
  const Joints& joints() const { return joints_; }
  const JointLimits& limits() const { return limits_; }

 protected:
  // The hand swings the handle by so many radians to the right and up in the picture.
  void swing(double right, double up);
  void push(double metres);  // into the body
  void spin(double degrees);
  void set_jaws(double grip);  // 0 closed .. 1 open
  void set_pedal(bool on) { pedal_ = on; }
  // The instrument, which has gone `share` of its way to where the hand wants it: 1 is there.
  DevicePose follow(double share);

 private:
  RemoteCentre centre_;
  JointLimits limits_;
  Joints joints_;
  glm::dvec3 right_{1, 0, 0}, up_{0, 1, 0};
  glm::dvec3 direction_;  // of the shaft now
  double depth_;          // m, now
  bool fulcrum_, pedal_ = false;
};

}  // namespace trocar
