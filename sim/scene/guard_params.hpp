// Holds the parameters of the guard between a device and the session (sim/device/device_guard.hpp). A scene sets them.
// Units: metres, seconds, degrees.   Tested in tests/sim/device_guard_test.cpp
#pragma once

namespace trocar {

struct GuardParams {
  double tip_speed = 0.10;        // m/s    of the return to the device's pose, > 0
  double roll_speed_deg = 180.0;  // deg/s  of the return, > 0
  double longest_way_back = 2.0;  // s      upper limit of the duration, at any distance
};

}  // namespace trocar
