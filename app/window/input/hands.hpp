// Makes mouse and keyboard of a window an input device (sim/device/mouse_hands.hpp). Needs no window, only its input.
// Units: pixels, degrees, seconds.   Tested in tests/app/hands_test.cpp
#pragma once

#include "app/window/glfw_gamepad.hpp"
#include "app/window/window.hpp"
#include "sim/device/mouse_hands.hpp"
#include "sim/link/make_device.hpp"

namespace trocar {

// Returns what the input means for the hands.
HandInput hand_input(const WindowInput& input);

class Hands : public MouseHands {
 public:
  DeviceContext& devices() { return devices_; }

  // Passes picture axes and settings to every hand-held device, gamepads and SpaceMice included; before each frame.
  void tell(const ScopeAxes& axes, const HandSettings& settings);
  // Moves the selected instrument by the input. `elapsed`: s of the session's ticks.
  void move(const WindowInput& input, const ScopeAxes& axes, double elapsed, const HandSettings& settings);

 private:
  DeviceContext devices_ = {.gamepad = glfw_gamepad};  // must outlive the devices made with it
};

}  // namespace trocar
