#include "app/window/input/hands.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <algorithm>
#include <charconv>

namespace trocar {
namespace {

bool fits(const GamepadInfo& pad, const std::string& which) {
  if (which.empty()) return true;
  int number = 0;
  const auto [end, error] = std::from_chars(which.data(), which.data() + which.size(), number);
  if (error == std::errc{} && end == which.data() + which.size()) return pad.number == number;
  return pad.name.find(which) != std::string::npos;
}

// Returns true when other code, for example a window, has initialised GLFW. GLFW does not count its users:
// glfwTerminate() ends it for all of them.
bool glfw_runs() { return glfwGetTimerFrequency() != 0; }

// Returns GLFW's number of the gamepad that matches `which`, or -1 when there is none.
int find_gamepad(const std::string& which) {
  for (const GamepadInfo& pad : list_gamepads())
    if (pad.mapped && fits(pad, which)) return GLFW_JOYSTICK_1 + pad.number - 1;
  return -1;
}

}  // namespace

std::vector<GamepadInfo> list_gamepads() {
  std::vector<GamepadInfo> pads;
  for (int id = GLFW_JOYSTICK_1; id <= GLFW_JOYSTICK_LAST; ++id) {
    if (!glfwJoystickPresent(id)) continue;
    const bool mapped = glfwJoystickIsGamepad(id) == GLFW_TRUE;
    const char* name = mapped ? glfwGetGamepadName(id) : glfwGetJoystickName(id);
    pads.push_back({id - GLFW_JOYSTICK_1 + 1, name ? name : "unnamed", mapped});
  }
  return pads;
}

std::optional<std::vector<GamepadInfo>> gamepads_of_this_machine() {
  if (glfw_runs()) return list_gamepads();
  if (!glfwInit()) return std::nullopt;
  auto pads = list_gamepads();
  glfwTerminate();
  return pads;
}

GamepadSource glfw_gamepad(const std::string& which) {
  // While no gamepad matches, searches only once per kLookEvery calls (a second at 60 frames per second).
  return [which, id = -1, calls = 0]() mutable {
    constexpr int kLookEvery = 60;
    GamepadState state;
    GLFWgamepadstate read{};
    if (id < 0 && calls++ % kLookEvery == 0) id = find_gamepad(which);
    if (id < 0 || !glfwGetGamepadState(id, &read)) {
      id = -1;
      return state;
    }
    state.connected = true;
    std::copy(std::begin(read.axes), std::end(read.axes), state.axes.begin());
    std::transform(std::begin(read.buttons), std::end(read.buttons), state.buttons.begin(),
                   [](unsigned char pressed) { return pressed == GLFW_PRESS; });
    return state;
  };
}

namespace {

int between(bool more, bool less) { return (more ? 1 : 0) - (less ? 1 : 0); }

}  // namespace

HandInput hand_input(const WindowInput& input) {
  return {.motion = input.pointer_motion,
          .wheel = input.wheel,
          .jaws_down = input.left_button,
          .jaws_pressed = input.left_pressed,
          .scope = input.right_button,
          .cut = input.down(Key::E) || input.down(Key::Space),
          .coagulate = input.down(Key::R),
          .fine = input.down(Key::Shift),
          .roll = between(input.down(Key::W) || input.down(Key::Right), input.down(Key::Q) || input.down(Key::Left)),
          .insert = between(input.down(Key::Up), input.down(Key::Down))};
}

void Hands::tell(const ScopeAxes& axes, const HandSettings& settings) {
  for (HandDevice* hand : devices_.rates) {
    hand->set_screen(axes.right, axes.up);
    hand->set_fulcrum(settings.fulcrum);
  }
}

void Hands::move(const WindowInput& input, const ScopeAxes& axes, double elapsed, const HandSettings& settings) {
  tell(axes, settings);
  MouseHands::move(hand_input(input), axes, elapsed, settings);
}

std::unique_ptr<Device> make_window_device(const InstrumentScene& instrument, Hands& hands) {
  auto device = make_device(instrument, hands.devices());
  hands.add(hands.devices().mice.back());
  return device;
}

std::unique_ptr<Device> make_window_scope(const ScopeScene& scope, const std::filesystem::path& folder, Hands& hands) {
  auto device = make_scope_device(scope, folder, hands.devices());
  hands.set_scope(hands.devices().scope_mouse);
  return device;
}

}  // namespace trocar
