#include "app/command_line/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

namespace trocar {

Option& Option::within(double low, double high) {
  limits = fmt::format("{:g} to {:g}", low, high);
  fault_of = [low, high, range = limits](const std::string& value) -> std::string {
    double number = 0.0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool whole = error == std::errc{} && end == value.data() + value.size();
    if (whole && number >= low && number <= high) return {};
    return fmt::format("'{}' is not a number from {}", printable(value), range);
  };
  return *this;
}

Option& Option::one_of(std::vector<std::string> values) {
  limits = fmt::format("{{{}}}", fmt::join(values, ","));
  words = std::move(values);
  return *this;
}

Option& Option::checked(std::function<std::string(const std::string&)> fault, std::string kind) {
  fault_of = std::move(fault);
  limits = std::move(kind);
  return *this;
}

Option& Option::required(bool is) {
  is_required = is;
  return *this;
}

Option& Option::shown() {
  shows_default = true;
  return *this;
}

Option& Option::several(int at_least, int at_most) {
  least = at_least, most = at_most;
  return *this;
}

Option& Option::with_commas(int count) {
  commas = true;
  return several(count, count);
}

Option& Option::excludes(std::vector<std::string> others) {
  excluded.insert(excluded.end(), others.begin(), others.end());
  return *this;
}

Option& Option::needs(std::string other) {
  needed.push_back(std::move(other));
  return *this;
}

Option& Option::tells(bool& flag) {
  given = &flag;
  return *this;
}

std::string Option::value_name() const {
  constexpr const char* kKinds[] = {"", "TEXT", "INT", "UINT", "UINT", "FLOAT", "TEXT", "FLOAT", "INT", "UINT"};
  return kKinds[target.index()] + (limits.empty() ? "" : ":" + limits);
}

Command& Command::command(std::string name, std::string text) {
  return commands_.emplace_back(std::move(name), std::move(text));
}

const Command* Command::find(const std::string& name) const {
  const auto at = std::ranges::find(commands_, name, &Command::name);
  return at == commands_.end() ? nullptr : &*at;
}

namespace {

// The table as CLI11 takes it.
class Parser {
 public:
  Parser(const Command& program, const std::vector<std::string>& words) : app_(program.text(), program.name()) {
    if (!program.version().empty()) app_.set_version_flag("--version", program.version());
    add(app_, program, words, 0);
  }

  const Command* parse(std::vector<std::string> words) {
    std::ranges::reverse(words);  // CLI11 takes the last one first
    try {
      app_.parse(words);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() != 0) throw UsageError(error.what());
      app_.exit(error);  // prints help or version
      return nullptr;
    }
    for (const auto& [option, flag] : given_) *flag = option->count() > 0;
    const CLI::App* chosen = &app_;
    while (!chosen->get_subcommands().empty()) chosen = chosen->get_subcommands().front();
    return commands_.at(chosen);
  }

 private:
  // `words` from `at` on follow the name of this command. When one of its own commands follows, its own required
  // options are not wanted.
  void add(CLI::App& app, const Command& command, const std::vector<std::string>& words, std::size_t at) {
    commands_[&app] = &command;
    const Command* next = at < words.size() ? command.find(words[at]) : nullptr;
    for (const Option& row : command.options()) add(app, row)->required(row.is_required && !next);
    for (const Option& row : command.options()) {
      CLI::Option* option = option_of(app, row.names);
      for (const std::string& other : row.excluded) option->excludes(option_of(app, other));
      for (const std::string& other : row.needed) option->needs(option_of(app, other));
    }
    app.footer(command.footer());
    if (!command.commands().empty()) app.require_subcommand(command.can_run() ? 0 : 1, 1);
    for (const Command& sub : command.commands())
      add(*app.add_subcommand(sub.name(), sub.text()), sub, words, &sub == next ? at + 1 : words.size());
  }

  static CLI::Option* option_of(CLI::App& app, const std::string& names) {
    return app.get_option(names.substr(names.find(',') + 1));
  }

  CLI::Option* add(CLI::App& app, const Option& row) {
    CLI::Option* option = std::visit(
        [&]<class Value>(Value* value) {
          if constexpr (std::is_same_v<Value, bool>)
            return app.add_flag(row.names, *value, row.text);
          else
            return app.add_option(row.names, *value, row.text);
        },
        row.target);
    if (!row.words.empty()) option->check(CLI::IsMember(row.words));
    if (row.fault_of)
      option->check(CLI::Validator([&row](std::string& text) { return row.fault_of(text); }, row.limits));
    if (row.commas) option->delimiter(',');
    if (row.most > 0) option->expected(row.least, row.most);
    if (row.shows_default) option->capture_default_str();
    if (row.given) given_.emplace_back(option, row.given);
    return option;
  }

  CLI::App app_;
  std::map<const CLI::App*, const Command*> commands_;
  std::vector<std::pair<const CLI::Option*, bool*>> given_;
};

// Escapes what roff reads as commands.
std::string roff(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    line_begins = c == '\n';
  }
  return out;
}

// "Trocar: a simulator" without the name, which stands before it on the page.
std::string_view without_name(std::string_view text) {
  const std::size_t colon = text.find(": ");
  return colon == text.npos ? text : text.substr(colon + 2);
}

std::string row_text(const std::string& names, const std::string& value, const std::string& text) {
  return fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(names), value.empty() ? "" : " \\fI" + roff(value) + "\\fR",
                     roff(text.empty() ? "-" : text));
}

std::string command_text(const Command& command, const std::string& before) {
  const std::string name = before + command.name();
  std::string text = fmt::format(".SS \"{}\"\n{}\n", roff(name), roff(command.text()));
  for (const Option& row : command.options())
    text += row_text(row.names, row.positional() ? "" : row.value_name(), row.text);
  for (const Command& sub : command.commands()) text += command_text(sub, name + " ");
  return text;
}

// The words that may follow a command: its commands and the names of its options.
std::string words_after(const Command& command) {
  std::string words;
  for (const Command& sub : command.commands()) words += sub.name() + " ";
  for (const Option& row : command.options())
    if (!row.positional()) words += row.names + " ";
  std::ranges::replace(words, ',', ' ');
  return words + "--help";
}

}  // namespace

const Command* parse(const Command& program, std::vector<std::string> words) {
  return Parser(program, words).parse(words);
}

std::string manual_page(const Command& program, const std::string& version, const std::string& date) {
  std::string text = fmt::format(
      ".TH TROCAR 1 \"{}\" \"Trocar {}\" \"User Commands\"\n.SH NAME\ntrocar \\- {}\n"
      ".SH SYNOPSIS\n.B trocar\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n"
      "Without a command, the start screen opens. \\fBtrocar help\\fR \\fICOMMAND\\fR prints the options of a "
      "command.\n"
      ".SH COMMANDS\n",
      date, version, roff(without_name(program.text())));
  for (const Command& command : program.commands()) text += command_text(command, "");
  return text +
         ".SH EXIT STATUS\n.TP\n0\nDone.\n.TP\n1\nThe run failed, or what was checked is unsound.\n.TP\n2\nThe input "
         "or the command line is wrong; one sentence on the standard error says what to do.\n";
}

std::string bash_completion(const Command& program) {
  std::string cases;
  for (const Command& command : program.commands()) {
    for (const Command& sub : command.commands())
      cases += fmt::format("    \"{} {}\") words=\"{}\" ;;\n", command.name(), sub.name(), words_after(sub));
    cases += fmt::format("    \"{} \"*) words=\"{}\" ;;\n", command.name(), words_after(command));
  }
  return fmt::format(
      "# Completes the commands and options of trocar in bash.\n"
      "_trocar() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} first= second= words\n"
      "  [ \"$COMP_CWORD\" -gt 1 ] && first=${{COMP_WORDS[1]}}\n"
      "  [ \"$COMP_CWORD\" -gt 2 ] && second=${{COMP_WORDS[2]}}\n"
      "  case \"$first $second\" in\n"
      "    \" \") words=\"{}\" ;;\n{}"
      "    *) words= ;;\n"
      "  esac\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
      "  [ \"${{#COMPREPLY[@]}}\" -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
      "}}\n"
      "complete -o filenames -F _trocar trocar\n",
      words_after(program), cases);
}

}  // namespace trocar
