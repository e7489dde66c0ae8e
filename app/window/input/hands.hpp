// The input devices of the window: mouse and keyboard (sim/device/mouse_device.hpp), gamepads through GLFW, and the
// devices of a session.   Units: pixels, degrees, seconds.   Tested in tests/app/window_input_test.cpp
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/window/window.hpp"
#include "sim/device/hand_device.hpp"
#include "sim/device/mouse_device.hpp"
#include "sim/link/make_device.hpp"
#include "sim/scene/scene.hpp"

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

// Returns what the input means for the hands.
HandInput hand_input(const WindowInput& input);

// Mouse and keyboard of a window as an input device. Needs no window, only its input.
class Hands : public MouseHands {
 public:
  DeviceContext& devices() { return devices_; }

  // Passes picture axes and settings to gamepads and SpaceMice; before each frame.
  void tell(const ScopeAxes& axes, const HandSettings& settings);
  // Moves the selected instrument by the input. `elapsed`: s of the session's ticks.
  void move(const WindowInput& input, const ScopeAxes& axes, double elapsed, const HandSettings& settings);

 private:
  DeviceContext devices_ = {.gamepad = glfw_gamepad};  // must outlive the devices made with it
};

// Makes the device of an instrument and registers a mouse device in `hands`. Call once for each instrument, in the
// scene's order. Throws InputError when the device cannot be made.
std::unique_ptr<Device> make_window_device(const InstrumentScene& instrument, Hands& hands);
// Returns the scope's device, or null where nothing moves it; call after the instruments. `folder`: of the scene.
std::unique_ptr<Device> make_window_scope(const ScopeScene& scope, const std::filesystem::path& folder, Hands& hands);

}  // namespace trocar
