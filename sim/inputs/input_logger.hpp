// Runs a session whose devices are logged, so that each frame is in the log before anything that follows from it: a
// pause at a task's end belongs to the next frame, not to the last one.   Tested in tests/sim/input_rerun_test.cpp
#pragma once

#include "sim/inputs/input_log.hpp"
#include "sim/session/session.hpp"

namespace trocar {

class InputLogger {
 public:
  // The devices of `session` are those of logged(log, ...). Both must outlive this object.
  InputLogger(InputLog& log, Session& session) : log_(log), session_(session) {}

  // Suspends the devices; logged with the next frame.
  void suspend_devices();
  // Runs one frame of `duration` s.
  void step(const FrameClock& clock, double duration, double field_of_view_deg);
  // Adds what the last frame gave, for comparison.
  void set_sums(const FrameSums& sums) { log_.frames.back().sums = sums; }

 private:
  InputLog& log_;
  Session& session_;
  bool suspended_ = false;  // since the last frame
};

}  // namespace trocar
