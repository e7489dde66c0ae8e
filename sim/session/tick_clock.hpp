// The time of a session: ticks, the stages of a frame, and the time left for checks.
// TickClock computes how many ticks each picture runs: the session advances by a fixed time step, at any drawing rate.
// A picture runs the ticks that have become due since the last one, up to a limit; ticks beyond the limit are lost
// time. Each tick has its own time and a wall time, which the user experienced. Ticks of one picture share the wall
// time since the last tick evenly. This class reads no clock: the caller passes the duration of each picture, measured
// by a clock that may stop or jump. Units: seconds.   Tested in tests/sim/session/tick_clock_test.cpp
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/device/device.hpp"

namespace trocar {

// Defines the stages of a frame. Recordings, the overlay and the session use the same names. Units: milliseconds of
// wall clock.

enum Stage : std::size_t {
  kDevices,
  kPairs,
  kUpdate,
  kQuery,
  kContacts,
  kCut,
  kTissue,
  kSurface,
  kCheck,
  kRecord,
  kStages
};
const std::vector<std::string>& stage_names();

using StageMs = std::array<float, kStages>;  // of one frame

// Adds the lifetime of this object to a stage.
class StageTimer {
 public:
  explicit StageTimer(float& stage_ms) : stage_ms_(stage_ms), start_(std::chrono::steady_clock::now()) {}
  ~StageTimer() {
    stage_ms_ += std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  float& stage_ms_;
  std::chrono::steady_clock::time_point start_;
};

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
  // Returns the time of the last picture on the scale of the ticks' numbers: at most half a tick before or after the
  // newest tick.
  double now() const { return static_cast<double>(next_tick_) + static_cast<double>(left_) - 1.0 + due_; }
  double wall() const { return wall_; }  // s  of the last picture
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

// Decides whether the check of the answers may run in a picture. It may when the picture's work and the check together
// fit into the time of the picture: one tick, or longer where the display takes longer. A check therefore never delays
// a tick. The cost of a check is predicted from the last one; the first check, and one that is retried after a wait,
// may exceed the budget. take_overrun() returns the excess, so that the session's clock can leave it out. Units:
// milliseconds.   Tested in tests/sim/session/tick_clock_test.cpp
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
