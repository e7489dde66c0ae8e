// Computes how many ticks each picture runs: the session advances by a fixed time step, at any drawing rate. A picture
// runs the ticks that have become due since the last one, up to a limit; ticks beyond the limit are lost time. Each
// tick has its own time and a wall time, which the user experienced. Ticks of one picture share the wall time since the
// last tick evenly. This class reads no clock: the caller passes the duration of each picture, measured by a clock that
// may stop or jump. Units: seconds.   Tested in tests/sim/tick_clock_test.cpp
#pragma once

#include <cstdint>

#include "sim/device/device.hpp"

namespace trocar {

struct TickParams {
  double rate = 60.0;        // Hz   > 0, Scene::frame_rate
  int most_per_picture = 3;  // 1    most ticks in one picture, >= 1
  // s  A longer time between two pictures is an interruption (the machine slept, the program was stopped, the clock was
  // set) and counts as this time.
  double longest_gap = 2.0;
};

class TickClock {
 public:
  explicit TickClock(const TickParams& params);

  // Starts the next picture, `elapsed` s after the last one. Returns its number of ticks; 1 for the first picture. A
  // negative or non-finite time counts as 0.
  int picture(double elapsed);
  // Returns the next of these ticks; call it as many times as picture() returned.
  FrameClock next();
  // Call when the session is paused: the time until the next picture does not count.
  void interrupt() { interrupted_ = true; }

  double tick() const { return 1.0 / params_.rate; }  // s
  double wall() const { return wall_; }               // s  of the last picture
  double lost() const { return static_cast<double>(lost_ticks_) * tick(); }
  // Returns whether the last picture came after a gap longer than longest_gap.
  bool after_gap() const { return after_gap_; }

 private:
  TickParams params_;
  std::uint64_t next_tick_ = 0, lost_ticks_ = 0;
  int left_ = 0;                         // ticks of this picture that next() has yet to return
  double due_ = 1.0;                     // ticks; between pictures -0.5 .. 0.5
  double wall_ = 0.0, tick_wall_ = 0.0;  // s  of the last picture, of the last tick
  bool interrupted_ = true, after_gap_ = false;
};

}  // namespace trocar
