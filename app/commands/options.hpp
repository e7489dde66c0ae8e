// What the options of several commands share: ranges of numbers, and what a scene may reach.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "app/scene/scene_access.hpp"

namespace trocar {

// Takes a number from `low` to `high`; unlike CLI11's own check, not NaN, and its sentence names both.
CLI::Validator within(double low, double high);

// --allow-outside of every command that loads a scene.
void add_access_option(CLI::App& command, SceneAccess& access);

}  // namespace trocar
