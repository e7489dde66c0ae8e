// Makes a gamepad an input device, which moves the handle of an instrument or of the scope. Sticks and shoulder buttons
// set rates, the right trigger sets the jaws, the left trigger and two buttons are the pedals. Axes and buttons follow
// GLFW's mapping (SDL's database).
//   left stick   swings the handle          right stick, up and down   inserts, withdraws
//   right stick, left and right, LB, RB     turn about the shaft
//   right trigger closes the jaws           left trigger or A          cut
//                                           B                          coagulate
// A stick deflected by r > dead zone z gives ((r - z) / (1 - z))^curve of the full rate, in the stick's direction.
// Units: metres, degrees, seconds.   Tested in tests/sim/gamepad_device_test.cpp
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/device/hand_device.hpp"

namespace trocar {

struct GamepadState {
  bool connected = false;
  // -1..1: left x, left y, right x, right y (y down), left trigger, right trigger (-1 released .. 1 pressed)
  std::array<float, 6> axes{0.f, 0.f, 0.f, 0.f, -1.f, -1.f};
  std::array<bool, 15> buttons{};  // A, B, X, Y, LB, RB, back, start, guide, left stick, right stick, up, right, ...
};
using GamepadSource = std::function<GamepadState()>;

struct GamepadParams {
  double dead_zone = 0.15;        // 1        0..0.9; worn sticks rest off centre
  double curve = 2.0;             // 1        >= 1; above 1 for fine control near the centre
  double swing_rate_deg = 45.0;   // deg/s    at full deflection
  double insert_rate = 0.08;      // m/s      at full deflection
  double spin_rate_deg = 150.0;   // deg/s    at full deflection
  double pedal_threshold = 0.25;  // 1        travel of the left trigger that presses the pedal, 0..1
  bool fulcrum = true;            //          the stick moves the handle, the tip moves in the opposite direction
};

// Maps a stick's deflection (x, y in -1..1) to a fraction of the full rate, of length at most 1.
glm::dvec2 stick_rate(const GamepadParams& params, double x, double y);

class GamepadDevice final : public RateDevice {
 public:
  GamepadDevice(const HeldTool& tool, GamepadSource source, const GamepadParams& params = {});

  DevicePose pose(const FrameClock& clock) override;

 private:
  GamepadParams params_;
  GamepadSource source_;
};

}  // namespace trocar
