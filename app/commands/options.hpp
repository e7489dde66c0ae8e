// Defines options that several commands share: ranges of numbers, and the files that a scene may read.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "sim/scene/scene_access.hpp"

namespace trocar {

// Makes a check that accepts a number from `low` to `high`. Unlike CLI11's own check it refuses NaN, and its message
// names both limits.
CLI::Validator within(double low, double high);

// Adds --allow-outside to a command that loads a scene.
void add_access_option(CLI::App& command, SceneAccess& access);

// Adds --force to a command, without which it writes over no file that the user named (refuse_existing).
void add_force_option(CLI::App& command, bool& force);

// Defines --person. A name that cannot be recorded is refused (sim/support/text.hpp).
CLI::Option* add_person_option(CLI::App& command, std::string& person);
// Adds --anatomy to a command that starts a session.
CLI::Option* add_anatomy_option(CLI::App& command, std::optional<std::uint32_t>& seed);

// Adds --level to a command that starts a session.
CLI::Option* add_level_option(CLI::App& command, std::optional<int>& level);

}  // namespace trocar
