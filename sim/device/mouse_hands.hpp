// Moves several instruments and the scope with one mouse and keys that are held: the mouse moves what is in hand and
// works its jaws, keys roll it and press the pedals. Knows no window; the program's window and the page of the browser
// fill HandInput. Units: pixels, degrees, seconds.   Tested in tests/app/window_input_test.cpp
#pragma once

#include <cstddef>
#include <glm/glm.hpp>
#include <vector>

#include "sim/device/mouse_device.hpp"
#include "sim/scene/scope.hpp"

namespace trocar {

struct HandSettings {
  double speed = 1.0;   // 1     sensitivity of mouse and wheel, 0.25..4
  bool fulcrum = true;  //       fulcrum effect, for every hand-held device: the tip or the eye moves against the hand
};

// Input since the last picture.
struct HandInput {
  glm::dvec2 motion{0.0};     // pixels, right and up
  double wheel = 0.0;         // notches, into the body is positive
  bool jaws_down = false;     // the button of the jaws is down
  bool jaws_pressed = false;  // it went down, even if it is up again
  bool scope = false;         // the mouse moves the scope while this is true
  bool cut = false, coagulate = false;
  bool fine = false;         // a quarter of every movement
  int roll = 0, insert = 0;  // -1, 0, 1: keys that are held; clockwise and into the body are positive
};

class MouseHands {
 public:
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

  // Moves what is in hand. `elapsed`: s of the session's ticks, for keys that are held. A notch of the wheel is a step;
  // the instrument takes it within about 0.2 s.
  void move(const HandInput& input, const ScopeAxes& axes, double elapsed, const HandSettings& settings);
  // Releases all pedals. A press of the jaws' button ends without a click.
  void rest();

 private:
  MouseDevice* held(bool scope) const;
  void work_jaws(const HandInput& input);
  void push(MouseDevice& mouse, const HandInput& input, double elapsed, double speed);

  std::vector<MouseDevice*> mice_;  // [instrument]
  MouseDevice* scope_ = nullptr;
  std::size_t in_hand_ = 0;
  MouseDevice* turned_ = nullptr;   // the instrument that the wheel moves
  double notches_ = 0.0;            // of the wheel that it has not taken yet
  MouseDevice* pressed_ = nullptr;  // the instrument that was selected when the button of the jaws went down
  bool button_was_down_ = false;
};

}  // namespace trocar
