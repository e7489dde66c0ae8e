// Implements the common part of the hand-held devices (mouse, gamepad, SpaceMouse): converts increments of motion to
// joints within limits. Fulcrum effect: the user holds the handle outside the body, and the shaft pivots in the trocar
// between handle and tip, so the tip moves opposite to the handle. A motion to the right and up in the picture moves
// the tip to the left and down, as at the operating table; trainees have to learn this. With `fulcrum = false` the tip
// follows the motion instead, for users who only need to position an instrument. Insertion and rotation do not depend
// on the setting.
// The same class moves an instrument (pivot and tip) or the scope (port and eye); roll is the spin.
// Units: metres, degrees, radians where noted.   Tested in tests/sim/hand_device_test.cpp
#pragma once

#include <string>

#include "sim/device/device.hpp"
#include "sim/device/joints.hpp"
#include "sim/scene/instrument_scene.hpp"

namespace trocar {

// The instrument or scope that a device holds.
struct HeldTool {
  glm::dvec3 pivot{0.0}, tip{0.0, 0.0, 0.1};  // m   at the start
  glm::dvec3 axis{0.0};                       // 1   direction at zero pan and tilt; zero: from pivot to tip
  JointLimits limits;
  double spin_deg = 0.0;           // deg  at the start
  bool ratchet = true;             //      the handle has a ratchet, which keeps the jaws closed
  AxisScale axes = {};             //      of hand-held devices
  Registration registration = {};  // of a tracker
};

// Returns an empty text when the tool starts within its limits; else the joint that is outside them, with its limits.
std::string start_fault(const HeldTool& tool);

class HandDevice : public Device {
 public:
  HandDevice(const HeldTool& tool, bool fulcrum);

  // Sets the right and up directions of the picture: unit vectors in the world frame.
  void set_screen(const glm::dvec3& right, const glm::dvec3& up);
  void set_fulcrum(bool on) { fulcrum_ = on; }
  bool fulcrum() const { return fulcrum_; }

  // Returns the target joints of the instrument, which are within the limits.
  const Joints& joints() const { return joints_; }
  const JointLimits& limits() const { return limits_; }

 protected:
  // Swings the handle by these angles (radians) to the right and up in the picture.
  void swing(double right, double up);
  void push(double metres);  // into the body; negative: withdraws
  void spin(double degrees);
  void set_jaws(double grip);  // 0 closed .. 1 open
  void set_pedal(Diathermy pedal) { pedal_ = pedal; }
  // Moves the instrument by the fraction `share` of its distance to the target joints (1: all of it). Returns its pose.
  DevicePose follow(double share);

 private:
  RemoteCentre centre_;
  JointLimits limits_;
  AxisScale axes_;
  Joints joints_;
  glm::dvec3 right_{1, 0, 0}, up_{0, 1, 0};
  glm::dvec3 direction_;  // current direction of the shaft
  double depth_;          // m, current
  bool fulcrum_;
  Diathermy pedal_ = {};
};

// An input device that reports rates of motion, such as a stick.
class RateDevice : public HandDevice {
 public:
  using HandDevice::HandDevice;
  DeviceHealth health() const override { return connected_ ? DeviceHealth::Good : DeviceHealth::Lost; }

 protected:
  // Returns the time since the previous pose, s: 0 at first, and at most one tick at a scene's lowest frame rate: a
  // longer gap is a pause, during which the device was not read. Releases the pedal when the device is not connected.
  double begin_pose(const FrameClock& clock, bool connected);
  bool connected() const { return connected_; }

 private:
  double time_ = 0.0;  // s  of the last pose
  bool started_ = false, connected_ = false;
};

}  // namespace trocar
