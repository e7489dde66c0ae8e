#include "app/window/input/two_hands.hpp"

#include <algorithm>

#include "geometry/translate.hpp"

namespace trocar {
namespace {

// GLFW's numbers.
enum PadAxis : std::size_t { kPadLeftX, kPadLeftY, kPadRightX, kPadRightY, kPadLeftTrigger, kPadRightTrigger };
enum PadButton : std::size_t {
  kPadA = 0,
  kPadB = 1,
  kPadX = 2,
  kPadY = 3,
  kPadLeftShoulder = 4,
  kPadRightShoulder = 5,
  kPadUp = 11,
  kPadRight = 12,
  kPadDown = 13,
  kPadLeft = 14
};

int between(bool more, bool less) { return (more ? 1 : 0) - (less ? 1 : 0); }

void press_pedal_keys(const WindowInput& input, HandInput& hand) {
  hand.cut = input.down(Key::E) || input.down(Key::Space);
  hand.coagulate = input.down(Key::R);
  hand.fine = input.down(Key::Shift);
}

// What the mouse means for a hand when arrows belong to the other.
HandInput mouse_input(const WindowInput& input) {
  HandInput hand{.motion = input.pointer_motion,
                 .wheel = input.wheel,
                 .jaws_down = input.left_button,
                 .jaws_pressed = input.left_pressed,
                 .scope = input.right_button};
  press_pedal_keys(input, hand);
  hand.roll = between(input.down(Key::W), input.down(Key::Q));
  return hand;
}

HandInput second_mouse_input(const WindowInput& input, const MouseCounts& mouse) {
  HandInput hand{.motion = {mouse.right, mouse.up},
                 .wheel = mouse.wheel,
                 .jaws_down = mouse.buttons[0],
                 .jaws_pressed = mouse.pressed[0],
                 .scope = mouse.buttons[1]};
  hand.fine = input.down(Key::Shift);
  hand.roll = between(input.down(Key::Right), input.down(Key::Left));
  return hand;
}

bool trigger_down(const GamepadState& pad, std::size_t axis, double travel) {
  return pad.connected && 0.5 * (static_cast<double>(pad.axes[axis]) + 1.0) > travel;
}

// The cross swings the scope; with both shoulder buttons it moves it in and out.
HandInput cross_input(const GamepadState& pad) {
  HandInput scope;
  const glm::dvec2 cross(between(pad.buttons[kPadRight], pad.buttons[kPadLeft]),
                         between(pad.buttons[kPadUp], pad.buttons[kPadDown]));
  if (pad.buttons[kPadLeftShoulder] && pad.buttons[kPadRightShoulder])
    scope.insert = cross.y, scope.roll = cross.x;
  else
    scope.swing = cross;
  return scope;
}

// What a second person does with the scope. The right button rolls instead of swinging.
HandInput person_input(const MouseCounts& mouse) {
  HandInput scope{.motion = {mouse.right, mouse.up}, .wheel = mouse.wheel};
  if (!mouse.buttons[1]) return scope;
  scope.roll = std::clamp(0.05 * mouse.right, -1.0, 1.0);
  scope.motion = glm::dvec2(0.0);
  return scope;
}

HandInput person_input(const GamepadState& pad, const StickParams& params) {
  if (!pad.connected) return {};
  const GamepadParams stick{.dead_zone = params.dead_zone, .curve = params.curve};
  const auto rate = [&](std::size_t x) {
    return stick_rate(stick, static_cast<double>(pad.axes[x]), -static_cast<double>(pad.axes[x + 1]));
  };
  const glm::dvec2 right = rate(kPadRightX);
  HandInput scope;
  scope.swing = rate(kPadLeftX);
  scope.insert = right.y, scope.roll = right.x;
  return scope;
}

// Both move the same hand.
HandInput together(HandInput a, const HandInput& b) {
  a.motion += b.motion;
  a.wheel += b.wheel;
  a.jaws_down |= b.jaws_down, a.jaws_pressed |= b.jaws_pressed, a.scope |= b.scope;
  a.cut |= b.cut, a.coagulate |= b.coagulate, a.fine |= b.fine;
  a.swing = glm::clamp(a.swing + b.swing, -1.0, 1.0);
  a.roll = std::clamp(a.roll + b.roll, -1.0, 1.0);
  a.insert = std::clamp(a.insert + b.insert, -1.0, 1.0);
  return a;
}

}  // namespace

const char* name_of(HandsBy by) {
  constexpr const char* names[kHandsBy] = {msgid("mouse, one at a time"), msgid("mouse and keys"), msgid("two mice"),
                                           msgid("gamepad, two sticks"), msgid("keys alone")};
  return names[static_cast<std::size_t>(by)];
}

const char* name_of(CameraBy by) {
  constexpr const char* names[kCameraBy] = {msgid("yourself"),           msgid("skilled assistant"),
                                            msgid("learning assistant"), msgid("clumsy assistant"),
                                            msgid("second mouse"),       msgid("gamepad")};
  return names[static_cast<std::size_t>(by)];
}

std::string hands_fault(HandsBy by, CameraBy camera) {
  if (by == HandsBy::TwoMice && camera == CameraBy::SecondMouse)
    return tr("The second mouse moves a hand, so it cannot hold the camera; choose other hands or another camera");
  if (by == HandsBy::TwoSticks && camera == CameraBy::Gamepad)
    return tr("The gamepad moves the hands, so it cannot hold the camera; choose other hands or another camera");
  return {};
}

HandInput hand_input(const WindowInput& input) {
  HandInput hand = mouse_input(input);
  hand.roll = between(input.down(Key::W) || input.down(Key::Right), input.down(Key::Q) || input.down(Key::Left));
  hand.insert = between(input.down(Key::Up), input.down(Key::Down));
  return hand;
}

HandInput key_input(const WindowInput& input) {
  HandInput hand;
  hand.swing = {between(input.down(Key::Right), input.down(Key::Left)),
                between(input.down(Key::Up), input.down(Key::Down))};
  hand.insert = between(input.down(Key::PageDown), input.down(Key::PageUp));
  hand.roll = between(input.down(Key::End), input.down(Key::Home));
  hand.jaws_down = input.down(Key::Insert);
  hand.jaws_pressed = input.went_down(Key::Insert);
  hand.fine = input.down(Key::Shift);
  hand.slow_start = true;
  return hand;
}

HandInput stick_input(const GamepadState& pad, const GamepadState& before, HandSide side, const StickParams& params) {
  if (!pad.connected) return {};
  const bool main = side == HandSide::Main;
  const std::size_t x = main ? kPadRightX : kPadLeftX, trigger = main ? kPadRightTrigger : kPadLeftTrigger;
  const GamepadParams stick{.dead_zone = params.dead_zone, .curve = params.curve};
  const glm::dvec2 rate = stick_rate(stick, static_cast<double>(pad.axes[x]), -static_cast<double>(pad.axes[x + 1]));
  HandInput hand;
  if (pad.buttons[main ? kPadRightShoulder : kPadLeftShoulder])
    hand.insert = rate.y, hand.roll = rate.x;
  else
    hand.swing = rate;
  hand.jaws_down = trigger_down(pad, trigger, params.trigger);
  hand.jaws_pressed = hand.jaws_down && !trigger_down(before, trigger, params.trigger);
  return hand;
}

HandsInput hands_input(HandsBy by, CameraBy camera, const WindowInput& input, const HandDevices& devices,
                       const StickParams& params) {
  HandsInput hands;
  const auto went_down = [&](std::size_t button) {
    return devices.pad.buttons[button] && !devices.pad_before.buttons[button];
  };
  switch (by) {
    case HandsBy::Mouse:
      hands.main = hand_input(input);
      break;
    case HandsBy::MouseAndKeys:
      hands.main = mouse_input(input);
      hands.other = key_input(input);
      break;
    case HandsBy::TwoMice:
      hands.main = mouse_input(input);
      hands.other = second_mouse_input(input, devices.second_mouse);
      break;
    case HandsBy::TwoSticks:
      hands.main = together(hand_input(input), stick_input(devices.pad, devices.pad_before, HandSide::Main, params));
      hands.other = stick_input(devices.pad, devices.pad_before, HandSide::Other, params);
      hands.main.cut |= devices.pad.buttons[kPadA];
      hands.main.coagulate |= devices.pad.buttons[kPadB];
      hands.scope = cross_input(devices.pad);
      hands.other_next = went_down(kPadX);
      hands.main_next = went_down(kPadY);
      break;
    case HandsBy::Keys:
      hands.main = key_input(input);
      press_pedal_keys(input, hands.main);
      hands.main.roll =
          between(input.down(Key::W) || input.down(Key::End), input.down(Key::Q) || input.down(Key::Home));
      break;
  }
  if (!hands_fault(by, camera).empty()) return hands;
  if (camera == CameraBy::SecondMouse) hands.scope = person_input(devices.second_mouse);
  if (camera == CameraBy::Gamepad) hands.scope = person_input(devices.pad, params);
  return hands;
}

}  // namespace trocar
