// Runs cases as child processes on this machine, several at a time. A case that crashes or takes too long has an
// outcome like any other. One thread: wait() must be called for anything to happen.
// Tested in tests/app/sweep_test.cpp
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/sweep/case_process.hpp"
#include "app/sweep/scratch_folder.hpp"
#include "app/sweep/sweep_case.hpp"

namespace trocar {

struct RunnerParams {
  std::string program = "/proc/self/exe";  // that runs the commands of the cases
  std::filesystem::path folder;            // in which they run: the plan's
  double timeout = 600.0;                  // s      of each command
  std::size_t jobs = 1;                    // cases at a time
};

class CaseRunner {
 public:
  explicit CaseRunner(RunnerParams params);

  std::size_t free() const { return params_.jobs - running_.size(); }
  // Starts a case; free() must not be 0.
  void start(SweepCase one);
  // Waits until a process ends, at most this time. Returns the cases that are finished, and goes on with the commands
  // of the others.
  std::vector<CaseOutcome> wait(std::chrono::milliseconds longest);

 private:
  using Clock = std::chrono::steady_clock;
  struct Running {
    SweepCase one;
    CaseOutcome outcome;
    std::filesystem::path scratch;
    std::size_t command = 0;  // that runs
    bool second_try = false, timed_out = false;
    Clock::time_point start, deadline;
    std::unique_ptr<CaseProcess> process;
  };
  void start_command(Running& running);
  // Returns whether the case is finished.
  bool go_on(Running& running, const ProcessEnd& end);

  RunnerParams params_;
  ScratchFolder scratch_;
  std::vector<Running> running_;
  std::uint64_t started_ = 0;
};

}  // namespace trocar
