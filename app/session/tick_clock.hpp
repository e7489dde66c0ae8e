// From pictures to ticks: the session is stepped by a fixed time, however quickly the machine draws. A picture does as
// many ticks as have become due since the last one, at most a few; what it cannot make up for is lost time, in whole
// ticks. Beside the tick's own time each tick has its wall time: the time that the person in front of the picture has
// had. Ticks of one picture share the time since the last tick evenly.
// Reads no clock: it is told how long each picture took, by a clock that may stand or step.
// Units: seconds.   Tested in tests/app/tick_clock_test.cpp
#pragma once

#include <cstdint>

#include "app/device/device.hpp"

namespace trocar {

struct TickParams {
  double rate = 60.0;        // Hz   > 0, Scene::frame_rate
  int most_per_picture = 3;  // 1    ticks that one picture makes up for, >= 1
  // s  More between two pictures is an interruption (the machine slept, the program was stopped, the clock was set),
  // and counts as this much.
  double longest_gap = 2.0;
};

class TickClock {
 public:
  explicit TickClock(const TickParams& params);

  // The next picture, `elapsed` s after the last one. Returns how many ticks it does: 1 the first time. Time that goes
  // back or is not finite has not passed.
  int picture(double elapsed);
  // The next of these ticks; to be called as often as picture() said.
  FrameClock next();
  // The time until the next picture does not count: the session stood still.
  void interrupt() { interrupted_ = true; }

  double tick() const { return 1.0 / params_.rate; }  // s
  double wall() const { return wall_; }               // s  of the last picture
  double lost() const { return static_cast<double>(lost_ticks_) * tick(); }
  // The last picture came after more than the longest gap.
  bool after_gap() const { return after_gap_; }

 private:
  TickParams params_;
  std::uint64_t next_tick_ = 0, lost_ticks_ = 0;
  int left_ = 0;                         // ticks of this picture that next() has not given yet
  double due_ = 1.0;                     // ticks, -0.5 .. 0.5 between pictures
  double wall_ = 0.0, tick_wall_ = 0.0;  // s  of the last picture, of the last tick
  bool interrupted_ = true, after_gap_ = false;
};

}  // namespace trocar
