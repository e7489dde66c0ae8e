// Finds and reads gamepads with GLFW.
// Tested in tests/app/glfw_gamepad_test.cpp
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/device/hand_device.hpp"

namespace trocar {

// A gamepad as GLFW reports it. list_gamepads() needs an initialised GLFW.
struct GamepadInfo {
  int number = 0;  // 1..16
  std::string name;
  bool mapped = false;  // GLFW knows its axes and buttons
};
std::vector<GamepadInfo> list_gamepads();
// Lists the gamepads, with or without a window: if GLFW is not initialised, initialises it temporarily. Returns nothing
// without a display. Call this function from the main thread.
std::optional<std::vector<GamepadInfo>> gamepads_of_this_machine();

// Makes the source of a gamepad. `which`: a number, a part of a name, or empty for the first mapped gamepad. While none
// matches, the source searches again every 60 calls, so the gamepad can be plugged in later. Call it from the thread
// that initialised GLFW.
GamepadSource glfw_gamepad(const std::string& which);

}  // namespace trocar
