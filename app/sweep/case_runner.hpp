// Runs cases as child processes on this machine, several at a time, each in a folder of its own, and reads what they
// wrote. A case that crashes or takes too long has an outcome like any other. One thread: wait() must be called for
// anything to happen.   Tested in tests/app/sweep_test.cpp
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/sweep/sweep_case.hpp"

namespace trocar {

class ScratchFolder {
 public:
  // Throws InputError when the folder cannot be created.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

struct ProcessEnd {
  int exit_status = -1;  // -1: a signal ended it
  int signal = 0;        // 0: it exited
  double cpu_seconds = 0.0;
  double memory_mib = 0.0;  // largest resident memory
};

class CaseProcess {
 public:
  // Starts the program in `folder`; its stderr goes to `messages`, its stdout nowhere. Throws RunError when the system
  // has no process or memory for it.
  CaseProcess(const std::string& program, const std::vector<std::string>& arguments,
              const std::filesystem::path& folder, const std::filesystem::path& messages);
  // Kills a process that still runs.
  ~CaseProcess();
  CaseProcess(CaseProcess&& other) noexcept;
  CaseProcess(const CaseProcess&) = delete;
  CaseProcess& operator=(const CaseProcess&) = delete;

  // A descriptor that becomes readable when the process ends, for poll().
  int descriptor() const { return descriptor_; }
  // Returns whether the process has ended; then `end` has how.
  bool ended(ProcessEnd& end);
  void kill();

 private:
  pid_t process_ = -1;
  int descriptor_ = -1;
};

struct RunnerParams {
  std::string program = "/proc/self/exe";  // that runs the commands of the cases
  std::filesystem::path folder;            // in which they run: the plan's
  double timeout = 600.0;                  // s      of each command
  std::size_t jobs = 1;                    // cases at a time
};
// One line of text, for another process.
std::string to_line(const RunnerParams& params);
RunnerParams runner_params_of_line(const std::string& line);

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
