// The handle of jaws or blades, worked by one button. With a ratchet, as on a grasper, a click closes the jaws with a
// light grip and a longer press with a firm one. Closed jaws stay closed; the next click opens them, and a longer press
// makes a light grip firm. Without a ratchet, as on scissors, they are closed while the button is down.
// Units: seconds.   Tested in tests/sim/grip_ratchet_test.cpp
#pragma once

namespace trocar {

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

}  // namespace trocar
