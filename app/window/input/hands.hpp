// The input devices of the window: the trainee's hands (two_hands.hpp), gamepads through GLFW, and the devices of a
// session.   Units: pixels, degrees, seconds.   Tested in tests/app/window_input_test.cpp
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/window/input/two_hands.hpp"
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

// Mouse, keyboard, gamepad and second mouse of a window as the trainee's hands; and which of the instruments that share
// one other device, such as a tracked tool, follows it. Needs no window, only its input.
class Hands : public MouseHands {
 public:
  DeviceContext& devices() { return devices_; }

  // Chooses the devices of the hands and of the scope; call it before every picture. `second_mouse`: as of
  // find_mouse().
  void choose(HandsBy by, CameraBy camera, const std::string& second_mouse);
  // Returns why a device of the hands is missing, one sentence with its remedy; empty: none is.
  const std::string& fault() const { return fault_; }
  // Finds gamepads and opens second mice; tests inject their own.
  void set_hardware(GamepadSource pad, std::function<std::unique_ptr<EvdevMouse>(const std::string&)> open_mouse);

  // Passes picture axes and settings to gamepads and SpaceMice; before each frame.
  void tell(const ScopeAxes& axes, const HandSettings& settings);
  // Moves the selected instruments by the input. `elapsed`: s of the session's ticks.
  void move(const WindowInput& input, const ScopeAxes& axes, double elapsed, const HandSettings& settings);
  // As of MouseHands; the second mouse moves the pointer again.
  void rest();

  // Selects an instrument by its number, also one that another device moves: then it follows this device, and the other
  // instruments of the device are parked: they stay where they are, with their grip.
  void take(std::size_t number, HandSide side = HandSide::Main);
  bool is_parked(std::size_t number) const;
  // Says that another device moves the instrument that was added last. `source`: device and source, as one text.
  void add_other(const std::string& source);

 private:
  void read_devices();
  void open_mouse();

  DeviceContext devices_ = {.gamepad = glfw_gamepad};  // must outlive the devices made with it
  HandsBy by_ = HandsBy::Mouse;
  CameraBy camera_ = CameraBy::Trainee;
  std::string which_, fault_, mouse_fault_;
  GamepadSource pad_;
  std::function<std::unique_ptr<EvdevMouse>(const std::string&)> open_mouse_;
  std::unique_ptr<EvdevMouse> mouse_;
  HandDevices state_;
  bool tried_ = false;                // to open the second mouse
  std::vector<std::string> sources_;  // [instrument] device and source; empty: the mouse moves it
  std::vector<bool> parked_;          // [instrument]
};

// Makes the device of an instrument and registers a mouse device in `hands`. Call once for each instrument, in the
// scene's order. Throws InputError when the device cannot be made.
std::unique_ptr<Device> make_window_device(const InstrumentScene& instrument, Hands& hands);
// Returns the scope's device, or null where nothing moves it; call after the instruments. `folder`: of the scene.
std::unique_ptr<Device> make_window_scope(const ScopeScene& scope, const std::filesystem::path& folder, Hands& hands);

}  // namespace trocar
