// Decides whether the check of the answers may run in a picture. It may when the picture's work and the check together
// fit into the time of the picture: one tick, or longer where the display takes longer. A check therefore never delays
// a tick. The cost of a check is predicted from the last one; the first check, and one that is retried after a wait,
// may exceed the budget. take_overrun() returns the excess, so that the session's clock can leave it out. Units:
// milliseconds.   Tested in tests/sim/tick_clock_test.cpp
#pragma once

namespace trocar {

class CheckBudget {
 public:
  explicit CheckBudget(double tick_ms) : tick_ms_(tick_ms) {}

  // Call before each picture. Returns true when the check may run. `busy_ms`: time of the last picture's ticks and
  // drawing without its check. `elapsed_ms`: time from the last picture to this one, waiting for the display included.
  bool room(double busy_ms, double elapsed_ms);
  // Call after a picture in which the check ran.
  void ran(double check_ms);
  // Returns the time by which the last check exceeded its budget; returned once, then 0.
  double take_overrun();

 private:
  double tick_ms_;
  double cost_ms_ = 0.0;                     // of the last check
  double in_last_ms_ = 0.0;                  // of the check in the last picture; 0: it did not run
  double room_ms_ = 0.0, overrun_ms_ = 0.0;  // budget and excess of the last check
  int wait_ = 0, pictures_until_try_ = 0;    // pictures before a check that took too long is tried again
};

}  // namespace trocar
