// Which devices move which hand: mouse and keys one after the other, mouse and keys at the same time, two mice, two
// sticks of a gamepad, or keys alone. The mapping is a pure function of the devices' states; MouseHands then moves
// instruments. Units: pixels, degrees.   Tested in tests/app/window_input_test.cpp
#pragma once

#include <string>

#include "app/window/window.hpp"
#include "sim/device/hand_device.hpp"
#include "sim/device/mouse_device.hpp"
#include "sim/link/evdev_mouse.hpp"

namespace trocar {

// The main hand holds the instrument that is selected.
enum class HandsBy {
  Mouse,         // mouse and keys move the main hand
  MouseAndKeys,  // the mouse moves the main hand, keys the other
  TwoMice,       // the pointer's mouse moves the main hand, a second one the other
  TwoSticks,     // the right stick of a gamepad moves the main hand, the left one the other; so does the mouse
  Keys           // keys move the main hand; the mouse is not read
};
inline constexpr std::size_t kHandsBy = 5;
// Returns what the user reads: "Mouse and keys, one hand"
const char* name_of(HandsBy by);
inline bool moves_two_hands(HandsBy by) { return by != HandsBy::Mouse && by != HandsBy::Keys; }

// Who holds the scope.
enum class CameraBy {
  Trainee,  // the right button, or the hand that took the scope
  Skilled,  // a scripted assistant (app/window/practice/camera.hpp)
  Learning,
  Clumsy,
  SecondMouse,  // a second person
  Gamepad
};
inline constexpr std::size_t kCameraBy = 6;
const char* name_of(CameraBy by);
inline bool is_assistant(CameraBy by) {
  return by == CameraBy::Skilled || by == CameraBy::Learning || by == CameraBy::Clumsy;
}
// Returns why one device cannot do both, one sentence; empty: it need not.
std::string hands_fault(HandsBy by, CameraBy camera);

struct StickParams {
  double dead_zone = 0.15;  // 1  0 .. 0.9; worn sticks rest off centre
  double curve = 2.0;       // 1  >= 1; above 1 for fine control near the centre
  double trigger = 0.5;     // 1  travel of a trigger that presses the button of the jaws, 0 .. 1
};

// State of all devices in a picture; those that are not used are as they are made.
struct HandDevices {
  GamepadState pad, pad_before;  // before: in the picture before
  MouseCounts second_mouse;
};

// What the hands do in a picture.
struct HandsInput {
  HandInput main, other;
  HandInput scope;                             // beside the hands: the cross of a gamepad, or a second person
  bool main_next = false, other_next = false;  // the hand takes the next instrument
};

// Returns what the mouse and the keys mean when they move one hand, as in HandsBy::Mouse.
HandInput hand_input(const WindowInput& input);
// Returns what keys alone mean for a hand: arrows swing, Page down and Page up insert and withdraw, Home and End roll,
// Insert is the button of the jaws; the numeric keypad has them all.
HandInput key_input(const WindowInput& input);
// Returns what a stick means for its hand. Held with its shoulder button, it inserts, withdraws and rolls.
HandInput stick_input(const GamepadState& pad, const GamepadState& before, HandSide side, const StickParams& params);

HandsInput hands_input(HandsBy by, CameraBy camera, const WindowInput& input, const HandDevices& devices,
                       const StickParams& params = {});

}  // namespace trocar
