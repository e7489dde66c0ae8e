// The program: its commands, and what it says of errors.
// Tested in tests/app/program_test.cpp
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "app/command_line/command_line.hpp"
#include "app/commands/commands.hpp"
#include "app/compare/backends.hpp"
#include "app/lab/lab_address.hpp"
#include "app/sound/sound.hpp"
#include "app/sweep/sweep.hpp"
#include "geometry/error.hpp"
#include "geometry/machine.hpp"
#include "sim/support/process.hpp"

namespace trocar {
namespace {

constexpr int kDone = 0, kRunFailed = 1, kWrongInput = 2;
constexpr std::size_t kLongestSentence = 1000;  // characters

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
void check_commands(const Command& program, const std::vector<std::string>& words) {
  const Command* command = &program;
  for (const std::string& word : words) {
    if (word.starts_with('-') || command->commands().empty()) return;
    const Command* next = command->find(word);
    if (!next && command->can_run()) return;
    std::string known;
    for (const Command& sub : command->commands()) known += (known.empty() ? "" : ", ") + sub.name();
    if (!next)
      throw InputError(fmt::format("unknown command '{}'; the commands are {}",
                                   printable((command == &program ? "" : command->name() + " ") + word), known));
    command = next;
  }
}

// No argument means the start screen; `help COMMAND` means `COMMAND --help`.
std::vector<std::string> words_of(int argument_count, const char* const* arguments) {
  std::vector<std::string> words(arguments + std::min(argument_count, 1), arguments + argument_count);
  if (words.empty()) words.emplace_back("run");
  if (words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  return words;
}

// Answers --manual and --completion, with which packages make their pages; false for other arguments.
bool print_manual(const Command& program, const std::vector<std::string>& words) {
  if (words.size() != 1 || (words[0] != "--manual" && words[0] != "--completion")) return false;
  fmt::print("{}", words[0] == "--manual" ? manual_page(program, kVersion, today()) : bash_completion(program));
  return true;
}

void add_commands(Command& program) {
  program.version(fmt::format("{}\nbackends: {}", kVersion, fmt::join(backend_names(), ", ")));
  add_demo_command(program);
  add_run_command(program);
  add_perform_command(program);
  add_record_command(program);
  add_recording_commands(program);
  add_export_command(program);
  add_compare_command(program);
  add_query_command(program);
  add_mesh_command(program);
  add_tissue_command(program);
  add_sweep_command(program);
  add_lab_command(program);
  add_doctor_command(program);
  add_file_command(program);
}

// One line of what CLI11 says, with a pointer to --help.
std::string usage_sentence(const UsageError& error) {
  std::string what = without_passwords(error.what());
  std::ranges::replace(what, '\n', ' ');
  return printable(what, kLongestText) + "; see trocar --help";
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
  Command program("trocar",
                  "Trocar: laparoscopic surgery simulator whose collision queries run on the graphics hardware");
  add_commands(program);
  try {
    const std::vector<std::string> words = words_of(argument_count, arguments);
    check_commands(program, words);
    instructions();  // refuses a wrong TROCAR_INSTRUCTIONS at once
    if (print_manual(program, words)) return finished_output();
    if (const Command* command = parse(program, words)) command->run();
    return finished_output();
  } catch (const UsageError& error) {
    complain(usage_sentence(error));
    return kWrongInput;
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
