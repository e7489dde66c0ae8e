// Runs this program again in a child process, so that a crash in it, for instance of a graphics driver, does not end
// the caller.   Tested in tests/sim/child_process_test.cpp
#pragma once

#include <chrono>
#include <span>
#include <string>

namespace trocar {

struct ChildResult {
  std::string output;   // what it wrote to stdout
  int status = 0;       // its exit status; -1 when it did not exit
  std::string failure;  // one phrase when it did not exit: a signal, too long a time, could not be started
};

// Runs `program` with these arguments and returns when it ends, also when it has closed its output before, or a process
// that it started still holds it. Waits at most `limit`: a child that takes longer is killed, and so is one that writes
// more than 64 MiB. The processes that it leaves are killed too.
ChildResult run_child(const std::string& program, std::span<const std::string> arguments, std::chrono::seconds limit);

// The path of this program. Throws RunError where /proc is not mounted.
std::string own_program();

}  // namespace trocar
