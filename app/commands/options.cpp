#include "app/commands/options.hpp"

#include <fmt/format.h>

#include <charconv>

#include "geometry/printable.hpp"
#include "sim/scene/task_scene.hpp"
#include "sim/support/text.hpp"

namespace trocar {

CLI::Validator within(double low, double high) {
  const std::string range = fmt::format("{:g} to {:g}", low, high);
  return CLI::Validator(
      [low, high, range](std::string& text) -> std::string {
        double number = 0.0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        const bool whole = error == std::errc{} && end == text.data() + text.size();
        if (whole && number >= low && number <= high) return {};
        return fmt::format("'{}' is not a number from {}", printable(text), range);
      },
      range);
}

void add_access_option(CLI::App& command, SceneAccess& access) {
  command.add_flag("--allow-outside", access.outside,
                   "Let the scene read files outside its folder and Trocar's data; only for scenes that you trust");
}

void add_force_option(CLI::App& command, bool& force) {
  command.add_flag("--force", force, "Write over an output file that exists, if Trocar wrote it");
}

CLI::Option* add_person_option(CLI::App& command, std::string& person) {
  return command.add_option("--person", person, "Id of who moves the instruments, for the recording")
      ->check(CLI::Validator(
          [](const std::string& id) {
            const std::string fault = name_fault(id);
            return fault.empty() ? fault : fmt::format("'{}' cannot be recorded: {}", printable(id), fault);
          },
          "ID"));
}

CLI::Option* add_anatomy_option(CLI::App& command, std::optional<std::uint32_t>& seed) {
  return command
      .add_option("--anatomy", seed,
                  "Seed of a variation of the anatomy, for a scene with [anatomy]; default: the scene's own")
      ->check(within(0, 4294967295.0));
}

CLI::Option* add_level_option(CLI::App& command, std::optional<int>& level) {
  return command
      .add_option("--level", level, "Level of the task, for a scene with [[task.level]]; 1: the scene as written")
      ->check(within(1, kMostLevels));
}

}  // namespace trocar
