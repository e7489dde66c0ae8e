#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <new>
#include <stdexcept>
#include <system_error>

#include "app/commands/commands.hpp"
#include "app/commands/manual.hpp"
#include "app/compare/backends.hpp"
#include "app/lab/lab_address.hpp"
#include "app/sound/sound.hpp"
#include "geometry/error.hpp"
#include "geometry/instructions.hpp"
#include "geometry/printable.hpp"
#include "sim/support/process.hpp"

namespace trocar {
namespace {

constexpr int kDone = 0, kRunFailed = 1, kWrongInput = 2;
constexpr std::size_t kLongestSentence = 1000;  // characters

// Returns CLI11's message on one line, with a pointer to --help.
std::string usage_sentence(const CLI::App*, const CLI::Error& error) {
  std::string what = without_passwords(error.what());
  std::replace(what.begin(), what.end(), '\n', ' ');
  return fmt::format("trocar: {}; see trocar --help\n", printable(what, kLongestText));
}

// Prints one sentence on stderr. Quoted text is short already; a path may be long.
void complain(const std::string& what) {
  try {
    fmt::print(stderr, "trocar: {}\n", printable(without_passwords(what), kLongestSentence));
  } catch (const std::system_error&) {
    // stderr is closed or full: only the exit status reports the error.
  }
}

// Flushes the standard output, because a full disk shows only then.
int finished_output() {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout.good()) return kDone;
  complain("the standard output could not be written; is the disk full?");
  return kRunFailed;
}

// Reports an unknown command by name, because CLI11 only says that a subcommand is required.
void check_command(const CLI::App& program, int argument_count, const char* const* arguments) {
  const int at = argument_count > 1 && std::string_view(arguments[1]) == "help" ? 2 : 1;
  if (argument_count <= at || arguments[at][0] == '-') return;
  std::string known;
  for (const CLI::App* sub : program.get_subcommands({})) {
    if (sub->get_name() == arguments[at]) return;
    known += (known.empty() ? "" : ", ") + sub->get_name();
  }
  throw InputError(fmt::format("unknown command '{}'; the commands are {}", printable(arguments[at]), known));
}

// Returns the arguments in the order that CLI11 takes, the last one first. No argument means the start screen; `help
// COMMAND` means `COMMAND --help`.
std::vector<std::string> in_reverse(int argument_count, const char* const* arguments) {
  std::vector<std::string> words(arguments + std::min(argument_count, 1), arguments + argument_count);
  if (words.empty()) words.emplace_back("run");
  if (words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  std::reverse(words.begin(), words.end());
  return words;
}

// Answers --manual and --completion, with which packages make their pages; false for other arguments.
bool print_manual(const CLI::App& program, int argument_count, const char* const* arguments) {
  const std::string_view asked = argument_count == 2 ? arguments[1] : "";
  if (asked == "--manual") fmt::print("{}", manual_page(program, kVersion, today()));
  if (asked == "--completion") fmt::print("{}", bash_completion(program));
  return asked == "--manual" || asked == "--completion";
}

int out_of_memory() {
  complain("out of memory; is the file damaged, or the scene too fine for this machine?");
  return kRunFailed;
}

}  // namespace

int run_program(int argument_count, const char* const* arguments) {
  // At the file size limit of the process a write then fails with an error; the signal would end the program.
  std::signal(SIGXFSZ, SIG_IGN);
  quiet_sound();
  CLI::App program{"Trocar: laparoscopic surgery simulator whose collision queries run on the graphics hardware",
                   "trocar"};
  program.set_version_flag("--version", fmt::format("{}\nbackends: {}", kVersion, fmt::join(backend_names(), ", ")));
  program.require_subcommand(1);
  program.failure_message(usage_sentence);
  add_demo_command(program);
  add_run_command(program);
  add_query_command(program);
  add_touch_command(program);
  add_meet_command(program);
  add_compare_command(program);
  add_record_command(program);
  add_perform_command(program);
  add_recording_commands(program);
  add_pack_commands(program);
  add_score_command(program);
  add_export_command(program);
  add_report_command(program);
  add_picture_command(program);
  add_mesh_command(program);
  add_tissue_command(program);
  add_sweep_command(program);
  add_lab_command(program);
  add_doctor_command(program);
  try {
    check_command(program, argument_count, arguments);
    instructions();  // refuses a wrong TROCAR_INSTRUCTIONS at once
    if (!print_manual(program, argument_count, arguments)) program.parse(in_reverse(argument_count, arguments));
    return finished_output();
  } catch (const CLI::ParseError& error) {
    // CLI11 has its own exit codes; everything except --help and --version is wrong usage.
    return program.exit(error) == 0 ? finished_output() : kWrongInput;
  } catch (const InputError& error) {
    complain(error.what());
    return kWrongInput;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::length_error&) {
    return out_of_memory();
  } catch (const std::exception& error) {
    complain(error.what());
    return kRunFailed;
  }
}

}  // namespace trocar
