// Makes the mouse an input device, which moves the handle of an instrument or of the scope: its motion swings the
// handle about the trocar, the wheel inserts and withdraws, the button works the jaws (sim/device/grip_ratchet.hpp).
// The window calls this class, which does not depend on the window. Units: metres, radians, degrees.   Tested in
// tests/sim/hand_device_test.cpp
#pragma once

#include "sim/device/grip_ratchet.hpp"
#include "sim/device/hand_device.hpp"

namespace trocar {

struct MouseParams {
  double swing_per_pixel = 0.0016;  // rad   > 0
  double insert_per_notch = 0.004;  // m     insertion per notch of the wheel, > 0
  double smoothing = 0.016;         // s     >= 0: time constant with which the tip follows, at any frame rate
  double jaw_travel = 0.2;          // s     in which the jaws open or close fully, > 0
  RatchetParams ratchet;
  bool fulcrum = true;  //       true: the tip moves opposite to the mouse; false: the tip follows it
};

class MouseDevice final : public HandDevice {
 public:
  explicit MouseDevice(const HeldTool& tool, const MouseParams& params = {});
  MouseDevice(const glm::dvec3& pivot, const glm::dvec3& tip, const MouseParams& params = {});

  void move(double right_pixels, double up_pixels);
  void insert(double notches) { push(notches * params_.insert_per_notch); }
  void roll(double degrees) { spin(degrees); }
  // The button of the jaws goes down, goes up, or its press ends without a click.
  void press() { ratchet_.press(time_); }
  void release() { ratchet_.release(time_); }
  void let_go() { ratchet_.let_go(); }
  void set_energy(Diathermy pedal) { set_pedal(pedal); }

  DevicePose pose(const FrameClock& clock) override;

 private:
  MouseParams params_;
  GripRatchet ratchet_;
  double time_ = 0.0;  // s  of the last pose
  double grip_ = 1.0;  // 1  aperture, 0 closed .. 1 open
  bool started_ = false;
};

}  // namespace trocar
