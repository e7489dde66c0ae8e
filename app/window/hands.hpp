// Whose motion the mouse is: one instrument after the other, or the scope. The keyboard rolls what is in the hand,
// closes jaws and works the pedal. Knows no window; fed by one. Units: pixels, degrees, seconds.
// Tested in tests/app/window_state_test.cpp
#pragma once

#include <cstddef>
#include <vector>

#include "app/device/make_device.hpp"
#include "app/scope/scope.hpp"
#include "app/window/window.hpp"

namespace trocar {

struct HandSettings {
  double speed = 1.0;   // 1     of the mouse, 0.25..4
  bool fulcrum = true;  //       the hand is outside, the tip or the eye goes the other way; of every device in a hand
};

class Hands {
 public:
  DeviceContext& devices() { return devices_; }
  // In the scene's order; null where something else than the mouse moves the instrument.
  void add(MouseDevice* instrument) { mice_.push_back(instrument); }
  // Null: the scope stays, or another device moves it. Called after the last add().
  void set_scope(MouseDevice* scope);

  // The next that the mouse can move: instruments in their order, then the scope.
  void take_next();
  std::size_t in_hand() const { return in_hand_; }  // number of instruments: the scope; more: nothing
  bool scope_in_hand() const { return in_hand_ == mice_.size() && scope_; }

  // What every device in a hand must know of the picture, gamepads and SpaceMice among them; before each frame.
  void tell(const ScopeAxes& axes, const HandSettings& settings);
  // `elapsed`: s of the session's ticks; keys held turn by it.
  void move(const WindowInput& input, const ScopeAxes& axes, double elapsed, const HandSettings& settings);
  // The hand lets go of everything: pedals up.
  void rest();

 private:
  MouseDevice* held(bool scope) const;

  DeviceContext devices_;           // outlives the devices made with it
  std::vector<MouseDevice*> mice_;  // [instrument]
  MouseDevice* scope_ = nullptr;
  std::size_t in_hand_ = 0;
  bool button_was_down_ = false;
};

}  // namespace trocar
