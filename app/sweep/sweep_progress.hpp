// Shows the progress of a sweep on stderr: cases done, cases not done, remaining time. On a terminal one line is
// rewritten; otherwise a line appears every ten seconds.   Tested in tests/app/sweep_command_test.cpp
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "app/sweep/plan.hpp"

namespace trocar {

class SweepProgress {
 public:
  // `slots`: cases that run at a time.
  SweepProgress(const Plan& plan, const PlanPart& part, std::size_t slots);
  ~SweepProgress();
  SweepProgress(const SweepProgress&) = delete;
  SweepProgress& operator=(const SweepProgress&) = delete;

  void add(const CaseOutcome& outcome);
  void show();
  // Returns the estimate: the remaining cases of each run at the mean time of its finished ones. NaN before the first.
  double seconds_left() const;

 private:
  // "about 5 s left"; "perhaps", while a run has no finished case.
  std::string left_text() const;

  using Clock = std::chrono::steady_clock;
  struct Run {
    std::uint64_t cases = 0, finished = 0;
    double seconds = 0.0;
  };

  const Plan& plan_;
  std::size_t slots_;
  std::map<const RunRow*, Run> runs_;
  std::uint64_t cases_ = 0, finished_ = 0, not_done_ = 0;
  bool terminal_, shown_ = false;
  Clock::time_point last_shown_;
};

}  // namespace trocar
