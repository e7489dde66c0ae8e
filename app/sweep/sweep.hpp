// Runs the cases of a plan and writes their results as one table. The results do not depend on who runs the cases, on
// their order, or on how often the sweep was stopped: a journal keeps what is finished. `trocar sweep` runs the cases
// on this machine; trocar-sweep-mpi also on others, by workers of its own.   Tested in tests/app/sweep_test.cpp
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/sweep/case_runner.hpp"

namespace trocar {

class Command;

struct SweepOptions {
  std::string plan, out, csv, times;
  std::string part;                        // "3/16"; empty: all cases
  std::string program = "/proc/self/exe";  // that runs the commands of the cases
  bool force = false;                      // write over results that exist
  int jobs = 0;                            // cases at a time in this process; 0: one per core
};
void add_sweep_options(Command& command, SweepOptions& options);
// trocar sweep, on this machine.
void add_sweep_command(Command& program);

// Runs cases somewhere.
class Workers {
 public:
  virtual ~Workers() = default;
  virtual std::size_t slots() const = 0;  // cases that run at a time
  virtual std::size_t free() const = 0;
  virtual void start(SweepCase one) = 0;  // only when free() is not 0
  // Waits for finished cases for a moment.
  virtual std::vector<CaseOutcome> wait() = 0;
};
using WorkersMaker = std::function<std::unique_ptr<Workers>(const RunnerParams&)>;

std::unique_ptr<Workers> make_local_workers(const RunnerParams& params);

// A part of a plan leaves its journal. The same command without a part takes the journals of all parts, runs the cases
// that they lack, and writes the results. Throws InputError before the first case for everything that the user can fix;
// RunError when it was stopped, and, after the results are written, when a case is not done.
void run_sweep(const SweepOptions& options, const WorkersMaker& make_workers);

}  // namespace trocar
