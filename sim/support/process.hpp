// This process and its machine: version, name, date, Ctrl-C, and child processes that run this program again.
// Tested in tests/sim/support/support_test.cpp
#pragma once

#include <chrono>
#include <cstddef>
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

// A child process that runs beside the caller, which feeds it or asks how far it is. It ends with the caller.
class ChildProcess {
 public:
  // Starts `program`: a path, or a name that is looked up in PATH. `fed`: it reads what send() gives as its standard
  // input; otherwise that is empty.
  ChildProcess(const std::string& program, std::span<const std::string> arguments, bool fed);
  ~ChildProcess();  // ends it, at once if it does not end by itself
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  int error() const { return error_; }  // why it was not started, as errno; 0: it was
  // Waits until the child has taken all bytes. Returns false when it does not read any longer.
  bool send(std::span<const std::byte> bytes);
  // Ends its input.
  void close_input();
  // Returns everything that it has written to stdout and stderr so far; never waits.
  const std::string& output();
  // Returns whether it has ended; never waits.
  bool ended();
  // Waits for its end and returns its exit status; -1 when a signal ended it.
  int wait();
  // Stops its processor time, or continues it.
  void pause(bool paused);

 private:
  int child_ = -1, input_ = -1, from_ = -1;  // process, descriptors
  int error_ = 0;
  std::string output_;
};

// The path of this program. Throws RunError where /proc is not mounted.
std::string own_program();

}  // namespace trocar
