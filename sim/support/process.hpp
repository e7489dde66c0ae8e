// This process and its machine: version, name, date, Ctrl-C, and child processes that run this program again.
// Tested in tests/sim/support/support_test.cpp
#pragma once

#include <chrono>
#include <span>
#include <string>

namespace trocar {

// Describes the origin of every table, recording and report: program version, machine, date.

inline constexpr const char* kVersion = TROCAR_VERSION;

// Returns a text such as "Intel(R) Xeon(R) Processor, 2 hardware threads".
std::string machine_description();
// Returns the name of this machine in its network.
std::string host_name();
// Returns the date in UTC, such as "2026-01-31".
std::string today();
// Returns date and time in UTC, such as "2026-11-21 10:22:05"; these texts sort by time.
std::string this_second();
// Returns such a date as it is shown, "2026-11-21 10:22:05 UTC"; an empty text for an empty one.
std::string utc_text(const std::string& date);

// Turns Ctrl-C into a flag: long work calls interrupted() between frames and ends cleanly.

// After this call the first SIGINT or SIGTERM only sets a flag; one that comes more than a second later ends the
// program as usual.
void catch_interrupts();
bool interrupted();

// Runs this program again in a child process, so that a crash in it, for instance of a graphics driver, does not end
// the caller.

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
