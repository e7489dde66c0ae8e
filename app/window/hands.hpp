// Makes mouse and keyboard an input device: the mouse moves the selected instrument or the scope and works the jaws;
// keys roll it and press the pedals. Needs no window, only its input. Units: pixels, degrees, seconds.
// Tested in tests/app/hands_test.cpp
#pragma once

#include <cstddef>
#include <vector>

#include "app/window/glfw_gamepad.hpp"
#include "app/window/window.hpp"
#include "sim/link/make_device.hpp"
#include "sim/scene/scope.hpp"

namespace trocar {

struct HandSettings {
  double speed = 1.0;   // 1     sensitivity of mouse and wheel, 0.25..4
  bool fulcrum = true;  //       fulcrum effect, for every hand-held device: the tip or the eye moves against the hand
};

class Hands {
 public:
  DeviceContext& devices() { return devices_; }
  // Adds the mouse device of an instrument, in the scene's order; null where another device moves the instrument.
  void add(MouseDevice* instrument) { mice_.push_back(instrument); }
  // Sets the mouse device of the scope; null when the scope is fixed, or when another device moves it. Call after the
  // last add().
  void set_scope(MouseDevice* scope);

  // Selects the next instrument that the mouse can move, in the scene's order, then the scope.
  void take_next();
  // Selects an instrument by its number in the scene, or the scope by the number of instruments, if the mouse moves it.
  void take(std::size_t number);
  std::size_t in_hand() const { return in_hand_; }  // number of instruments: the scope; greater: nothing
  bool scope_in_hand() const { return in_hand_ == mice_.size() && scope_; }

  // Passes picture axes and settings to every hand-held device, gamepads and SpaceMice included; before each frame.
  void tell(const ScopeAxes& axes, const HandSettings& settings);
  // Moves the selected instrument by the input. `elapsed`: s of the session's ticks, for keys that are held. A notch of
  // the wheel is a step; the instrument takes it within about 0.2 s.
  void move(const WindowInput& input, const ScopeAxes& axes, double elapsed, const HandSettings& settings);
  // Releases all pedals. A press of the jaws' button ends without a click.
  void rest();

 private:
  MouseDevice* held(bool scope) const;
  void work_jaws(const WindowInput& input);

  DeviceContext devices_ = {.gamepad = glfw_gamepad};  // must outlive the devices made with it
  std::vector<MouseDevice*> mice_;                     // [instrument]
  MouseDevice* scope_ = nullptr;
  std::size_t in_hand_ = 0;
  MouseDevice* turned_ = nullptr;   // the instrument that the wheel moves
  double notches_ = 0.0;            // of the wheel that it has not taken yet
  MouseDevice* pressed_ = nullptr;  // the instrument that was selected when the button of the jaws went down
  bool button_was_down_ = false;
};

}  // namespace trocar
