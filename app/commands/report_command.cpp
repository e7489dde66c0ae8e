// trocar report: writes a page for a browser that shows one recording in full, or several side by side.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/commands/commands.hpp"
#include "app/commands/options.hpp"
#include "app/report/report.hpp"

namespace trocar {
namespace {

void run(const std::vector<std::string>& files, const std::string& out, bool force, const std::string& try_at) {
  const std::size_t bytes = write_report(files, out, force, try_at);
  fmt::print("{}: {} of {:.1f} MB; open it in a browser\n", out,
             files.size() == 1 ? "a report" : fmt::format("a comparison of {} attempts", files.size()),
             static_cast<double>(bytes) / 1e6);
}

}  // namespace

void add_report_command(CLI::App& program) {
  auto files = std::make_shared<std::vector<std::string>>();
  auto out = std::make_shared<std::string>();
  CLI::App* sub =
      program.add_subcommand("report", "Write a page for a browser: one recording in full, or several side by side");
  sub->add_option("recordings", *files, "Recordings: .h5, in order of time")->required();
  sub->add_option("-o,--out", *out, "Page: .html")->required();
  const auto force = std::make_shared<bool>(false);
  add_force_option(*sub, *force);
  const auto try_at = std::make_shared<std::string>();
  sub->add_option("--try-at", *try_at, "Address of Trocar in the browser, to which the page links: https://...");
  sub->callback([files, out, force, try_at] { run(*files, *out, *force, *try_at); });
}

}  // namespace trocar
