#include "app/commands/lab_thresholds_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "app/commands/options.hpp"
#include "app/lab/lab_thresholds.hpp"
#include "geometry/error.hpp"

namespace trocar {
namespace {

constexpr std::size_t kEveryAttempt = 1'000'000;

struct ThresholdsCommand {
  std::vector<std::string> recordings, people;
  std::string scene, rule = "mean";
  int level = 1;
  std::size_t last = kEveryAttempt;
};

std::vector<ExpertAttempt> recorded_experts(const ThresholdsCommand& command) {
  if (!command.people.empty() || !command.scene.empty())
    throw InputError("name either recordings, or --person and --task, not both");
  std::vector<ExpertAttempt> experts;
  for (const std::string& recording : command.recordings) experts.push_back(expert_attempt_of(recording));
  return experts;
}

std::vector<ExpertAttempt> experts_of_the_lab(const ThresholdsCommand& command, LabDatabase& lab) {
  std::vector<ExpertAttempt> experts;
  for (const std::string& person : command.people) {
    if (!lab.person(person))
      throw InputError(fmt::format("no person has the id '{}'; trocar lab list shows all", printable(person)));
    for (const LabAttempt& attempt : lab.attempts({person, command.scene, command.level, command.last}))
      experts.push_back(expert_attempt_of(attempt));
  }
  if (experts.empty())
    throw InputError(fmt::format("these people have no attempt at {}, level {}; trocar lab show ID lists attempts",
                                 printable(command.scene), command.level));
  return experts;
}

void thresholds(const ThresholdsCommand& command, const std::function<LabDatabase()>& open,
                const std::function<void(const LabDatabase&)>& finish) {
  if (command.recordings.empty() && (command.people.empty() || command.scene.empty()))
    throw InputError("thresholds needs either recordings of experts, or people and a task: --person ID --task NAME");
  const ExpertRule rule = command.rule == "median" ? ExpertRule::Median : ExpertRule::TrimmedMean;
  std::optional<LabDatabase> lab;
  if (command.recordings.empty()) lab.emplace(open());
  const auto experts = lab ? experts_of_the_lab(command, *lab) : recorded_experts(command);
  fmt::print("{}", thresholds_toml(expert_thresholds(experts, rule)));
  if (lab) finish(*lab);
}

}  // namespace

void add_lab_thresholds_command(CLI::App& lab, std::function<LabDatabase()> open,
                                std::function<void(const LabDatabase&)> finish) {
  auto command = std::make_shared<ThresholdsCommand>();
  CLI::App* sub = lab.add_subcommand("thresholds", "Compute thresholds of a task from the attempts of experts");
  sub->add_option("recordings", command->recordings, "Recordings of experts at one task: .h5");
  sub->add_option("--person", command->people, "Ids of experts, whose attempts in the database are used instead");
  sub->add_option("--task", command->scene, "With --person: the name of the task's scene file without .toml");
  sub->add_option("--level", command->level, "With --person: level of the task")
      ->check(within(1, 1000))
      ->capture_default_str();
  sub->add_option("--last", command->last, "With --person: only the latest attempts of each person, this many")
      ->check(within(1, 1e6));
  sub->add_option("--rule", command->rule, "Score and time: the mean or the median of the experts")
      ->check(CLI::IsMember({"mean", "median"}))
      ->capture_default_str();
  sub->callback([command, open = std::move(open), finish = std::move(finish)] { thresholds(*command, open, finish); });
}

}  // namespace trocar
