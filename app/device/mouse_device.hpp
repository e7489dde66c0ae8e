// The mouse as an instrument's handle: moving it swings the instrument about its trocar, the wheel pushes it in and
// out. Fed by the window; knows nothing of it. Units: metres, radians.   Tested in tests/app/mouse_device_test.cpp
#pragma once

#include "app/device/device.hpp"

namespace trocar {

struct MouseParams {
  double swing_per_pixel = 0.0016;  // rad   > 0
  double insert_per_notch = 0.004;  // m     of the wheel, > 0
  double shallowest = 0.02;         // m     depth of the tip below the trocar
  double deepest = 0.30;            // m
  double widest_swing = 1.2;        // rad   from the direction at the start
  double smoothing = 0.35;          // 1     0 none .. < 1: part of the way left after each frame
};

class MouseDevice final : public Device {
 public:
  // `right` and `up`: the screen's axes in the world, so that the tip follows the pointer on the screen.
  MouseDevice(const glm::dvec3& pivot, const glm::dvec3& tip, const MouseParams& params = {});

  void set_screen(const glm::dvec3& right, const glm::dvec3& up);
  void move(double right_pixels, double up_pixels);
  void insert(double notches);
  void roll(double degrees) { roll_deg_ += degrees; }
  void set_grip(double grip) { grip_ = grip; }
  void set_energy(bool on) { energy_ = on; }

  DevicePose pose(const FrameClock& clock) override;

 private:
  MouseParams params_;
  glm::dvec3 pivot_, start_direction_, right_{1, 0, 0}, up_{0, 1, 0};
  glm::dvec3 target_direction_, direction_;
  double target_depth_, depth_, roll_deg_ = 0.0, grip_ = 1.0;
  bool energy_ = false;
};

}  // namespace trocar
