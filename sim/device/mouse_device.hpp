// Makes the mouse an input device, which moves the handle of an instrument or of the scope: its motion swings the
// handle about the trocar, the wheel inserts and withdraws, the button works the jaws (GripRatchet).
// The window calls this class, which does not depend on the window. Units: metres, radians, degrees.   Tested in
// tests/sim/device/hand_device_test.cpp
#pragma once

#include <cstddef>
#include <glm/glm.hpp>
#include <vector>

#include "sim/device/hand_device.hpp"
#include "sim/scene/scope.hpp"

namespace trocar {

// The handle of jaws or blades, worked by one button. With a ratchet, as on a grasper, a click closes the jaws with a
// light grip and a longer press with a firm one. Closed jaws stay closed; the next click opens them, and a longer press
// makes a light grip firm. Without a ratchet, as on scissors, they are closed while the button is down.
// Units: seconds.   Tested in tests/sim/device/hand_device_test.cpp
struct RatchetParams {
  double click = 0.25;       // s  a press shorter than this is a click, > 0
  double light = 1.0 / 3.0;  // 1  force of the light grip relative to the firm one, > 0, <= 1
  bool latches = true;       //    false: without a ratchet
};

class GripRatchet {
 public:
  explicit GripRatchet(const RatchetParams& params = {}) : params_(params) {}

  // The button goes down, goes up. No call may have an earlier `time` than the one before.
  void press(double time);
  void release(double time);
  // Ends a press that is not to count as a click: closed jaws keep their grip.
  void let_go();
  // Call before closed() and force(): a press that has lasted longer than a click makes the grip firm.
  void advance(double time);

  bool closed() const { return closed_; }
  // Returns the force of the grip relative to the firm one.
  double force() const { return firm_ || !params_.latches ? 1.0 : params_.light; }

 private:
  RatchetParams params_;
  double pressed_at_ = 0.0;                    // s
  bool pressed_ = false, was_closed_ = false;  // was: before the press
  bool closed_ = false, firm_ = false;
};

struct MouseParams {
  double swing_per_pixel = 0.0016;  // rad   > 0
  double insert_per_notch = 0.004;  // m     insertion per notch of the wheel, > 0
  double smoothing = 0.016;         // s     >= 0: time constant with which the tip follows, at any frame rate
  double jaw_travel = 0.2;          // s     in which the jaws open or close fully, > 0
  RatchetParams ratchet;
  bool fulcrum = true;  //       true: the tip moves opposite to the mouse; false: the tip follows it
};

class MouseDevice final : public HandDevice {
 public:
  explicit MouseDevice(const HeldTool& tool, const MouseParams& params = {});
  MouseDevice(const glm::dvec3& pivot, const glm::dvec3& tip, const MouseParams& params = {});

  void move(double right_pixels, double up_pixels);
  void insert(double notches) { push(notches * params_.insert_per_notch); }
  void roll(double degrees) { spin(degrees); }
  // The button of the jaws goes down, goes up, or its press ends without a click.
  void press() { ratchet_.press(time_); }
  void release() { ratchet_.release(time_); }
  void let_go() { ratchet_.let_go(); }
  void set_energy(Diathermy pedal) { set_pedal(pedal); }

  DevicePose pose(const FrameClock& clock) override;

 private:
  MouseParams params_;
  GripRatchet ratchet_;
  double time_ = 0.0;  // s  of the last pose
  double grip_ = 1.0;  // 1  aperture, 0 closed .. 1 open
  bool started_ = false;
};

// Moves several instruments and the scope with one mouse and keys that are held: the mouse moves what is in hand and
// works its jaws, keys roll it and press the pedals. Knows no window; the program's window and the page of the browser
// fill HandInput. Units: pixels, degrees, seconds.   Tested in tests/app/window_input_test.cpp
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
