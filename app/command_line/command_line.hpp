// The command line as one table: a row declares an option with its names, its text, its limits and where its value
// goes. The parser, the help, the manual page and the completion of the shell read the same rows. CLI11 parses, and
// only command_line.cpp includes it. Source of the library: CLI11, github.com/CLIUtils/CLI11   Tested in
// tests/app/program_test.cpp and files_test.cpp
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "geometry/error.hpp"

namespace trocar {

// Wrong usage. The message is CLI11's and may quote what the user wrote.
class UsageError : public InputError {
  using InputError::InputError;
};

// A row of the table.
struct Option {
  // Where the value goes: a flag, a text, a number, several of them, or one that may be absent.
  using Target =
      std::variant<bool*, std::string*, int*, std::uint32_t*, std::uint64_t*, double*, std::vector<std::string>*,
                   std::vector<double>*, std::optional<int>*, std::optional<std::uint32_t>*>;

  std::string names;  // "-o,--out"; without dashes: by position
  std::string text;
  Target target;
  std::string limits = {};                                          // as the help names them
  std::function<std::string(const std::string&)> fault_of = {};     // of a value, a sentence; empty: none
  std::vector<std::string> words = {};                              // the only values, unless it is empty
  int least = 0, most = 0;                                          // number of values; 0: as the target takes
  std::vector<std::string> excluded = {}, needed = {};              // other options of the command
  bool* given = nullptr;                                            // is set to whether the option was given
  bool is_required = false, shows_default = false, commas = false;  // `commas`: between the values

  // Accepts numbers from `low` to `high`, and names both in its message; refuses NaN.
  Option& within(double low, double high);
  Option& one_of(std::vector<std::string> values);
  // `kind`: names the value in the help.
  Option& checked(std::function<std::string(const std::string&)> fault, std::string kind);
  Option& required(bool is = true);
  // Its default value is part of the help.
  Option& shown();
  Option& several(int at_least, int at_most);
  Option& with_commas(int count);
  Option& excludes(std::vector<std::string> others);
  Option& needs(std::string other);
  Option& tells(bool& flag);

  bool positional() const { return !names.starts_with('-'); }
  // "TEXT", "INT:1 to 9"; empty for a flag.
  std::string value_name() const;
};

// A command with its options and its own commands. One that has no action needs one of its own commands.
class Command {
 public:
  Command(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Command& command(std::string name, std::string text);
  template <class Value>
  Option& option(std::string names, Value& value, std::string text) {
    return options_.emplace_back(Option{std::move(names), std::move(text), &value});
  }
  void runs(std::function<void()> action) { action_ = std::move(action); }
  // What --version prints, and what follows the options in the help.
  void version(std::string text) { version_ = std::move(text); }
  void footer(std::string text) { footer_ = std::move(text); }

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  const std::string& version() const { return version_; }
  const std::string& footer() const { return footer_; }
  const std::list<Option>& options() const { return options_; }
  const std::list<Command>& commands() const { return commands_; }
  const Command* find(const std::string& name) const;  // among its own commands
  bool can_run() const { return static_cast<bool>(action_); }
  void run() const { action_(); }

 private:
  std::string name_, text_, version_, footer_;
  std::list<Option> options_;  // rows keep their addresses
  std::list<Command> commands_;
  std::function<void()> action_;
};

// Parses the words after the program's name and gives the rows their values. Returns the command to run; nullptr when
// help or the version was printed. Throws UsageError.
const Command* parse(const Command& program, std::vector<std::string> words);

// Returns the manual page of section 1 as roff text. `date`: as "2026-01-31".
std::string manual_page(const Command& program, const std::string& version, const std::string& date);
// Returns a script for bash that completes commands, their options and files.
std::string bash_completion(const Command& program);

}  // namespace trocar
