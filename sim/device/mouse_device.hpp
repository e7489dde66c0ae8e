// Makes the mouse an input device, which moves the handle of an instrument or of the scope: its motion swings the
// handle about the trocar, the wheel inserts and withdraws, the button works the jaws (GripRatchet).
// The window calls this class, which does not depend on the window. Units: metres, radians, degrees.   Tested in
// tests/sim/device/hand_device_test.cpp
#pragma once

#include <cstddef>
#include <glm/glm.hpp>
#include <string>
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
  // Opens the jaws, whatever the button does.
  void open();
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

// How an instrument leaves its port for another one: its jaws open, the tip goes to the trocar, and comes back along
// the same line, less deep. Units: metres, seconds.
struct ExchangeParams {
  double less_deep = 0.015;  // m  it comes back by this much less deep, because tissue may have moved, >= 0
};

// Returns the share of the way to the trocar after the share `at` (0 .. 1) of the time: starts and ends at rest.
double share_of_way(double at);

struct MouseParams {
  double swing_per_pixel = 0.0016;  // rad   > 0
  double insert_per_notch = 0.004;  // m     insertion per notch of the wheel, > 0
  double smoothing = 0.016;         // s     >= 0: time constant with which the tip follows, at any frame rate
  double jaw_travel = 0.2;          // s     in which the jaws open or close fully, > 0
  double travel = 0.45;             // s     of the tip between its place and the trocar, > 0
  RatchetParams ratchet;
  bool fulcrum = true;  //       true: the tip moves opposite to the mouse; false: the tip follows it
};

class MouseDevice final : public HandDevice {
 public:
  explicit MouseDevice(const HeldTool& tool, const MouseParams& params = {});
  MouseDevice(const glm::dvec3& pivot, const glm::dvec3& tip, const MouseParams& params = {});

  void move(double right_pixels, double up_pixels);
  void swing_by(double right, double up) { swing(right, up); }  // rad, of the handle in the picture
  void insert(double notches) { push(notches * params_.insert_per_notch); }
  void roll(double degrees) { spin(degrees); }
  // Takes these joints, as far as the limits allow.
  void take(const Joints& joints) { set_joints(joints); }
  // The button of the jaws goes down, goes up, or its press ends without a click.
  void press() { ratchet_.press(time_); }
  void release() { ratchet_.release(time_); }
  void let_go() { ratchet_.let_go(); }
  void set_energy(Diathermy pedal) { set_pedal(pedal); }

  // Opens the jaws and goes to the trocar; comes back. `less_deep`: m, by which it will come back less deep; `at_once`:
  // it has arrived at the next pose.
  void withdraw(double less_deep, bool at_once = false);
  void bring_in();
  // Returns whether the tip is in the trocar, or on its way.
  bool is_out() const { return way_ >= 1.0; }
  bool travels() const { return way_ > 0.0 && way_ < 1.0; }
  bool is_leaving() const { return leaving_; }
  double way() const { return way_; }  // 1  share of the time of the way to the trocar

  DevicePose pose(const FrameClock& clock) override;

 private:
  MouseParams params_;
  GripRatchet ratchet_;
  double time_ = 0.0;  // s  of the last pose
  double grip_ = 1.0;  // 1  aperture, 0 closed .. 1 open
  double way_ = 0.0;   // 1  share of the time of the way to the trocar, 0: in the body
  bool leaving_ = false, started_ = false;
};

// Moves several instruments and the scope with one hand, or with two at the same time. What the mouse moves is in the
// main hand; a second mouse, keys or a stick move the other hand. Each hand swings, inserts and rolls what it holds and
// works its jaws; an instrument that no hand holds stays where it is, with its grip. Instruments that share a port are
// exchanged: those that are not in a hand leave the body before the chosen one comes in. Knows no window; the program's
// window and the page of the browser fill HandInput. Units: pixels, degrees, seconds.   Tested in
// tests/app/window_input_test.cpp
struct HandSettings {
  double speed = 1.0;   // 1     sensitivity of mouse and wheel, 0.25..4
  bool fulcrum = true;  //       fulcrum effect, for every hand-held device: the tip or the eye moves against the hand
};

// What keys that are held and sticks at their stop do.
struct HandRates {
  double swing_deg = 40.0;  // deg/s
  double insert = 0.04;     // m/s
  double roll_deg = 150.0;  // deg/s
  double fine = 0.25;       // 1      of every movement, with HandInput::fine, > 0
  double slow_start = 0.5;  // s      in which keys that swing come to their rate, >= 0
  double start = 0.2;       // 1      of the rate, when they go down, 0 .. 1
};

// Input of one hand since the last picture.
struct HandInput {
  glm::dvec2 motion{0.0};     // pixels, right and up
  double wheel = 0.0;         // notches, into the body is positive
  bool jaws_down = false;     // the button of the jaws is down
  bool jaws_pressed = false;  // it went down, even if it is up again
  bool scope = false;         // the hand moves the scope while this is true
  bool cut = false, coagulate = false;
  bool fine = false;        // a quarter of every movement
  glm::dvec2 swing{0.0};    // -1 .. 1  of the rate, right and up: a stick, keys that are held
  double roll = 0.0;        // -1 .. 1  of the rate; clockwise is positive
  double insert = 0.0;      // -1 .. 1  of the rate; into the body is positive
  bool slow_start = false;  // keys: a short press is a small movement
};

// What an instrument is for the hands.
struct HeldKind {
  std::string port = {};  // it shares this port; empty: none
  bool pedal = false;     // the pedals work it
};

enum class HandSide { Main, Other };

class MouseHands {
 public:
  // Adds the mouse device of an instrument, in the scene's order; null where another device moves the instrument.
  void add(MouseDevice* instrument, const HeldKind& kind = {});
  // Sets the mouse device of the scope; null when the scope is fixed, or when another device moves it. Call after the
  // last add().
  void set_scope(MouseDevice* scope);
  // Gives the other hand something to hold, or nothing.
  void use_other_hand(bool used);

  // Selects the next instrument that the mouse can move, in the scene's order, then the scope.
  void take_next(HandSide side = HandSide::Main);
  // Selects an instrument by its number in the scene, or the scope by the number of instruments, if the mouse moves it.
  // What the other hand held before goes to the hand that held this.
  void take(std::size_t number, HandSide side = HandSide::Main);
  // Returns what a hand holds; number of instruments: the scope; greater: nothing
  std::size_t in_hand(HandSide side = HandSide::Main) const { return hand(side).holds; }
  bool scope_in_hand() const { return in_hand() == mice_.size() && scope_; }
  bool uses_other_hand() const { return both_; }
  // Returns the hand that holds this instrument, or another one of its port; else the main hand.
  HandSide side_for(std::size_t number) const;
  // Returns whether an instrument is out of the body, because another one has its port.
  bool is_out(std::size_t number) const { return number < mice_.size() && mice_[number] && mice_[number]->is_out(); }
  // Returns whether an instrument is leaving or coming.
  bool travels(std::size_t number) const { return number < mice_.size() && mice_[number] && mice_[number]->travels(); }
  // Returns the mouse device of the scope, or null.
  MouseDevice* scope() { return scope_; }

  // Moves what is in the hands. `elapsed`: s of the session's ticks, for keys that are held. A notch of the wheel is a
  // step; the instrument takes it within about 0.2 s. The pedals work what is in the main hand, or in the other hand if
  // the first has no pedal.
  void move(const HandInput& input, const ScopeAxes& axes, double elapsed, const HandSettings& settings) {
    move(input, {}, axes, elapsed, settings);
  }
  void move(const HandInput& main, const HandInput& other, const ScopeAxes& axes, double elapsed,
            const HandSettings& settings);
  // Moves the scope beside what the hands do.
  void move_scope(const HandInput& input, const ScopeAxes& axes, double elapsed, const HandSettings& settings);
  // Releases all pedals. A press of the jaws' button ends without a click.
  void rest();

 private:
  struct Hand {
    std::size_t holds = 0;
    MouseDevice* turned = nullptr;   // the instrument that the wheel moves
    double notches = 0.0;            // of the wheel that it has not taken yet
    MouseDevice* pressed = nullptr;  // the instrument that was selected when the button of the jaws went down
    bool button_was_down = false;
    double keys_held = 0.0;  // s  for which keys have swung it
  };

  Hand& hand(HandSide side) { return hands_[static_cast<std::size_t>(side)]; }
  const Hand& hand(HandSide side) const { return hands_[static_cast<std::size_t>(side)]; }
  bool can_take(std::size_t number) const;
  bool share_port(std::size_t a, std::size_t b) const;
  MouseDevice* held(const Hand& hand, bool scope) const;
  void move_hand(Hand& hand, const HandInput& input, const ScopeAxes& axes, double elapsed,
                 const HandSettings& settings);
  void work_jaws(Hand& hand, const HandInput& input);
  void push(Hand& hand, MouseDevice& mouse, const HandInput& input, double elapsed, double speed);
  void press_pedals(const HandInput& main, const HandInput& other);
  void exchange();

  HandRates rates_;
  ExchangeParams exchange_;
  std::vector<MouseDevice*> mice_;  // [instrument]
  std::vector<HeldKind> kinds_;     // [instrument]
  MouseDevice* scope_ = nullptr;
  Hand hands_[2];             // [side]
  Hand assistant_;            // moves the scope beside them
  std::vector<bool> chosen_;  // [instrument] has its port: in a hand now, or the last of those that share it
  bool both_ = false, began_ = false;
};

}  // namespace trocar
