// Runs a program again with other arguments, one job after the other, each in a process of its own at the lowest
// priority of processor and disk. The caller never waits: not for a job, and not for its end. A job ends with the
// process that started it.   Tested in tests/app/background_jobs_test.cpp
#pragma once

#include <sys/types.h>

#include <deque>
#include <string>
#include <vector>

namespace trocar {

class BackgroundJobs {
 public:
  // `program`: a path.
  explicit BackgroundJobs(std::string program) : program_(std::move(program)) {}
  // Asks the running job to end, by SIGTERM, and forgets those that wait.
  ~BackgroundJobs();
  BackgroundJobs(const BackgroundJobs&) = delete;
  BackgroundJobs& operator=(const BackgroundJobs&) = delete;

  using Job = std::vector<std::string>;  // arguments
  // A job that waits already is not added again.
  void add(Job job);
  // Starts the next job when none is running. Call it now and then.
  void step();
  bool busy() const { return process_ > 0 || !jobs_.empty(); }

 private:
  std::string program_;
  std::deque<Job> jobs_;
  pid_t process_ = -1;
};

}  // namespace trocar
