// A child process that runs one command of a case. It has a process group of its own, so that all its processes can be
// killed together, and it is killed when its parent ends.   Tested in tests/app/sweep_test.cpp
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace trocar {

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

}  // namespace trocar
