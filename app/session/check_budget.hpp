// Whether the check of the answers may run in a picture. It may where the picture's work and the check together are
// done within the time that the picture has: a tick, or as long as the display lets it take. So a check never makes a
// tick late. What a check costs is known from the last one; the first one, and one that is tried again after a while,
// may take longer than there was room. That time is handed back, so that the session's clock can leave it out.
// Units: milliseconds.   Tested in tests/app/tick_clock_test.cpp
#pragma once

namespace trocar {

class CheckBudget {
 public:
  explicit CheckBudget(double tick_ms) : tick_ms_(tick_ms) {}

  // Before each picture. `busy_ms`: what the last picture's ticks and drawing took without its check. `elapsed_ms`: how
  // long it took until this one, waiting for the display included.
  bool room(double busy_ms, double elapsed_ms);
  // After a picture in which it ran.
  void ran(double check_ms);
  // What the last check took beyond its room; once.
  double take_overrun();

 private:
  double tick_ms_;
  double cost_ms_ = 0.0;                     // of the last check
  double in_last_ms_ = 0.0;                  // of the check in the last picture; 0: it did not run
  double room_ms_ = 0.0, overrun_ms_ = 0.0;  // of the last check
  int wait_ = 0, pictures_until_try_ = 0;    // pictures before a check that was too long is tried again
};

}  // namespace trocar
