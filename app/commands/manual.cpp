#include "app/commands/manual.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string_view>
#include <vector>

namespace trocar {
namespace {

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
std::string_view without_name(std::string_view description) {
  const std::size_t colon = description.find(": ");
  return colon == description.npos ? description : description.substr(colon + 2);
}

bool shown(const CLI::App& command) { return !command.get_group().empty(); }
bool shown(const CLI::Option& option) { return !option.get_group().empty(); }

std::vector<const CLI::App*> commands_of(const CLI::App& program) {
  std::vector<const CLI::App*> list;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    if (shown(*command)) list.push_back(command);
  return list;
}

std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  std::vector<const CLI::Option*> list;
  for (const CLI::Option* option : command.get_options())
    if (shown(*option)) list.push_back(option);
  return list;
}

std::string options_text(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : options_of(command)) {
    const std::string value = option->get_type_size() == 0 || option->get_positional()
                                  ? ""
                                  : " \\fI" + roff(option->get_type_name()) + "\\fR";
    text += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(option->get_name(option->get_positional(), true)), value,
                        roff(option->get_description().empty() ? "-" : option->get_description()));
  }
  return text;
}

std::string command_text(const CLI::App& command, const std::string& before) {
  const std::string name = before + command.get_name();
  std::string text = fmt::format(".SS \"{}\"\n{}\n", roff(name), roff(command.get_description()));
  text += options_text(command);
  for (const CLI::App* sub : commands_of(command)) text += command_text(*sub, name + " ");
  return text;
}

// The words that may follow a command: its commands and the long names of its options.
std::string words_after(const CLI::App& command) {
  std::string words;
  for (const CLI::App* sub : commands_of(command)) words += sub->get_name() + " ";
  for (const CLI::Option* option : options_of(command)) {
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
    for (const std::string& name : option->get_snames()) words += "-" + name + " ";
  }
  if (!words.empty()) words.pop_back();
  return words;
}

}  // namespace

std::string manual_page(const CLI::App& program, const std::string& version, const std::string& date) {
  std::string text = fmt::format(
      ".TH TROCAR 1 \"{}\" \"Trocar {}\" \"User Commands\"\n.SH NAME\ntrocar \\- {}\n"
      ".SH SYNOPSIS\n.B trocar\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n"
      "Without a command, the start screen opens. \\fBtrocar help\\fR \\fICOMMAND\\fR prints the options of a "
      "command.\n"
      ".SH COMMANDS\n",
      date, version, roff(without_name(program.get_description())));
  for (const CLI::App* command : commands_of(program)) text += command_text(*command, "");
  return text +
         ".SH EXIT STATUS\n.TP\n0\nDone.\n.TP\n1\nThe run failed, or what was checked is unsound.\n.TP\n2\nThe input "
         "or "
         "the command line is wrong; one sentence on the standard error says what to do.\n";
}

std::string bash_completion(const CLI::App& program) {
  std::string cases;
  for (const CLI::App* command : commands_of(program)) {
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command->get_name(), words_after(*command));
    for (const CLI::App* sub : commands_of(*command))
      cases += fmt::format("    \"{} {}\") words=\"{}\" ;;\n", command->get_name(), sub->get_name(), words_after(*sub));
  }
  return fmt::format(
      "# Completes the commands and options of trocar in bash.\n"
      "_trocar() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}} words\n"
      "  [ \"$command\" = mesh ] && [ \"$COMP_CWORD\" -gt 2 ] && command=\"mesh ${{COMP_WORDS[2]}}\"\n"
      "  [ \"$COMP_CWORD\" -eq 1 ] && command=\n"
      "  case \"$command\" in\n"
      "    \"\") words=\"{}\" ;;\n{}"
      "    *) words= ;;\n"
      "  esac\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
      "  [ \"${{#COMPREPLY[@]}}\" -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
      "}}\n"
      "complete -o filenames -F _trocar trocar\n",
      words_after(program), cases);
}

}  // namespace trocar
