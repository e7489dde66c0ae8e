// A gamepad as the hand on an instrument's handle, or on the scope's. Sticks and shoulders give rates, the right
// trigger the jaws, the left one the pedal. Layout of axes and buttons: GLFW's mapping, which is that of SDL's
// database.
//   left stick   swings the handle          right stick, up and down   pushes in, draws out
//   right stick, left and right, LB, RB     turn about the shaft
//   right trigger closes the jaws           left trigger or A          energy
// A stick deflected by r > dead zone z gives ((r - z) / (1 - z))^curve of the rate, in the stick's direction.
// Units: metres, degrees, seconds.   Tested in tests/app/gamepad_device_test.cpp
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/device/hand_device.hpp"

namespace trocar {

struct GamepadState {
  bool connected = false;
  // -1..1: left x, left y, right x, right y (y down), left trigger, right trigger (-1 released .. 1 pressed)
  std::array<float, 6> axes{0.f, 0.f, 0.f, 0.f, -1.f, -1.f};
  std::array<bool, 15> buttons{};  // A, B, X, Y, LB, RB, back, start, guide, left stick, right stick, up, right, ...
};
using GamepadSource = std::function<GamepadState()>;

struct GamepadParams {
  double dead_zone = 0.15;        // 1        0..0.9: worn sticks rest off centre
  double curve = 2.0;             // 1        >= 1: fine near the centre
  double swing_rate_deg = 45.0;   // deg/s    of a stick fully over
  double insert_rate = 0.08;      // m/s
  double spin_rate_deg = 150.0;   // deg/s
  double pedal_threshold = 0.25;  // 1        of the left trigger's way, 0..1
  bool fulcrum = true;            //          the stick moves the handle, the tip goes the other way
};

// What a stick gives, from its deflection in a square to a share of the rate in a circle.
glm::dvec2 stick_rate(const GamepadParams& params, double x, double y);

class GamepadDevice final : public HandDevice {
 public:
  GamepadDevice(const HeldTool& tool, GamepadSource source, const GamepadParams& params = {});

  DevicePose pose(const FrameClock& clock) override;
  // Lost while it is disconnected.
  DeviceHealth health() const override { return connected_ ? DeviceHealth::Good : DeviceHealth::Lost; }

 private:
  GamepadParams params_;
  GamepadSource source_;
  double time_ = 0.0;  // s  of the last pose
  bool started_ = false, connected_ = false;
};

// The gamepads of this machine, by GLFW, which must have been initialised.
struct GamepadInfo {
  int number = 0;  // 1..16
  std::string name;
  bool mapped = false;  // its axes and buttons are known
};
std::vector<GamepadInfo> list_gamepads();
// The same whether there is a window or not: without one it initialises GLFW for as long as it takes. Nothing when
// there is no display. To be called from the main thread.
std::optional<std::vector<GamepadInfo>> gamepads_of_this_machine();

// `which`: a number, part of a name, or empty for the first one whose mapping is known. Looks again while there is
// none, so that it may be plugged in later. To be called from the thread that initialised GLFW.
GamepadSource glfw_gamepad(const std::string& which);

}  // namespace trocar
