#include "app/commands/lab_tidy_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "app/lab/lab_retention.hpp"
#include "geometry/error.hpp"
#include "geometry/printable.hpp"
#include "sim/support/files.hpp"

namespace trocar {
namespace {

struct TidyCommand {
  std::string keep, curriculum;
  bool remove = false;
};

RetentionRule rule_of(const std::string& keep) {
  if (keep == "all") return {};
  int last = 0;
  const auto [end, error] = std::from_chars(keep.data(), keep.data() + keep.size(), last);
  if (error != std::errc() || end != keep.data() + keep.size() || last < 1 || last > kMostLast)
    throw InputError(fmt::format("--keep must be all, or a number of attempts from 1 to {}", kMostLast));
  return {last};
}

void print_rule(const RetentionRule& rule) {
  if (!rule.last)
    fmt::print("every recording stays; trocar lab tidy --keep N keeps passes and the last N of each person and task\n");
  else
    fmt::print("passes and the last {} attempts of each person at each level of a task stay\n", *rule.last);
}

void print_removable(const std::vector<Removable>& recordings) {
  std::uint64_t bytes = 0;
  for (const Removable& one : recordings) {
    fmt::print("  {} {} level {}: {}, {}\n", one.attempt.person, printable(one.attempt.scene), one.attempt.level,
               printable(one.file.string(), kLongestText), bytes_text(one.bytes));
    bytes += one.bytes;
  }
  fmt::print("{} recordings, {}, are not among these{}\n", recordings.size(), bytes_text(bytes),
             recordings.empty() ? "" : "; the window removes them, trocar lab tidy --remove does it now");
}

void remove_all(const std::vector<Removable>& recordings) {
  std::size_t removed = 0;
  std::uint64_t bytes = 0;
  for (const Removable& one : recordings) {
    if (!remove_recording(one)) continue;
    ++removed;
    bytes += one.bytes;
  }
  fmt::print("{} recordings removed, {}; their scores stay in the database\n", removed, bytes_text(bytes));
}

void tidy(const TidyCommand& command, const std::function<LabDatabase()>& open) {
  const LabPlaces places = lab_places();
  if (!command.keep.empty()) write_retention(places, rule_of(command.keep));
  const RetentionRule rule = read_retention(places);
  print_rule(rule);
  if (!rule.last) return;
  const std::filesystem::path course = command.curriculum;
  const Curriculum curriculum = load_curriculum(course.empty() ? data_file("curricula/basic.toml") : course);
  LabDatabase lab = open();
  const auto recordings = removable_recordings(lab, curriculum, rule);
  command.remove ? remove_all(recordings) : print_removable(recordings);
}

}  // namespace

void add_lab_tidy_command(CLI::App& lab, std::function<LabDatabase()> open) {
  auto command = std::make_shared<TidyCommand>();
  CLI::App* sub = lab.add_subcommand("tidy", "Show or set which recordings stay at this station");
  CLI::Option* keep = sub->add_option("--keep", command->keep,
                                      "all, or N: passes and the last N attempts of each person at a task stay");
  sub->add_flag("--remove", command->remove, "Remove the recordings that the rule does not keep")->excludes(keep);
  sub->add_option("--curriculum", command->curriculum, "Curriculum that says what is a pass; default: basic skills");
  sub->callback([command, open = std::move(open)] { tidy(*command, open); });
}

}  // namespace trocar
