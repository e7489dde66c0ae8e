// Holds the parameters of the local contact model of a haptic device (sim/device/haptics.hpp, which defines the
// symbols). A scene sets them for each instrument. Units: metres, seconds, newtons, N/m.
// Tested in tests/sim/haptics_test.cpp
#pragma once

namespace trocar {

struct ContactModelParams {
  double start_stiffness = 150.0;      // N/m  k0, before the first fit
  double least_stiffness = 20.0;       // N/m  >= 0
  double greatest_stiffness = 1200.0;  // N/m  the device must be stable against it
  double forgetting = 0.8;             // 1    f, 0..1
  double trusted_motion = 3e-5;        // m    w: much smaller changes of depth do not affect the fit, > 0
  double hold_intervals = 2.5;         // 1    number of intervals T for which a force is held, >= 1
  double shortest_hold = 0.120;        // s    minimum hold: the frame rate may fall to 10 Hz from one frame to the next
  double longest_interval = 0.250;     // s    upper limit of T; at longer intervals the force may fade between frames
  double fade = 0.020;                 // s    from the end of the hold to zero, >= 0
  double largest_force = 10.0;         // N    limit of the motors
  double weakest_force = 1e-6;         // N    the direction of a weaker force is undefined, > 0
  double shortest_interval = 0.004;    // s    lower limit of T: the transition to a new frame takes at least this time
  double interval_memory = 1.0;        // s    time constant with which a long interval decays, > 0
};

}  // namespace trocar
