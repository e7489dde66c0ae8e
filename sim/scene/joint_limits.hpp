// Defines the range of an instrument's joints. A scene sets it; the kinematics of sim/device/joints.hpp apply it.
// Units: metres, degrees.   Tested in tests/sim/joints_test.cpp
#pragma once

namespace trocar {

struct JointLimits {
  double pan_deg = 75.0;  // deg  -pan_deg..pan_deg
  double lowest_tilt_deg = -40.0, highest_tilt_deg = 75.0;
  double shallowest = 0.012, deepest = 0.300;  // m
  double widest_grip_deg = 60.0;               // deg  aperture at DevicePose::grip = 1
};

}  // namespace trocar
