// trocar sweep: runs the cases of a plan on this machine and writes their results as one table.
#include <CLI/CLI.hpp>

#include "app/commands/commands.hpp"
#include "app/sweep/sweep.hpp"

namespace trocar {

void add_sweep_command(CLI::App& program) {
  auto options = std::make_shared<SweepOptions>();
  CLI::App* sub =
      program.add_subcommand("sweep", "Run the cases of a plan, each in a process of its own; results in one table");
  add_sweep_options(*sub, *options);
  sub->callback([options] { run_sweep(*options, make_local_workers); });
}

}  // namespace trocar
