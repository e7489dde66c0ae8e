// Defines options that several commands share: ranges of numbers, the files that a scene may read, and the frames of a
// touch query.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/compare/frame_source.hpp"
#include "sim/scene/scene_access.hpp"

namespace CLI {
class App;
}

namespace trocar {

// Makes a check that accepts a number from `low` to `high`. Unlike CLI11's own check it refuses NaN, and its message
// names both limits.
CLI::Validator within(double low, double high);

// Adds --allow-outside to a command that loads a scene.
void add_access_option(CLI::App& command, SceneAccess& access);

// Adds --force to a command, without which it writes over no file that the user named (refuse_existing).
void add_force_option(CLI::App& command, bool& force);

// Defines --person. A name that cannot be recorded is refused (sim/support/names.hpp).
CLI::Option* add_person_option(CLI::App& command, std::string& person);
// Adds --anatomy to a command that starts a session.
CLI::Option* add_anatomy_option(CLI::App& command, std::optional<std::uint32_t>& seed);

// Adds --level to a command that starts a session.
CLI::Option* add_level_option(CLI::App& command, std::optional<int>& level);

struct QueryOptions {
  std::string mesh, trajectory;
  std::string radius_mm;  // mm; a text, so that "abc" and "nan" get an error message with a remedy
  std::string mode = "swept", cover = "capsule", set = "exact";
  int every = 1;
  double scale = 1.0;  // mm per unit of the mesh file
};

void add_query_options(CLI::App& command, QueryOptions& options, bool required);
QueryKind query_kind(const QueryOptions& options);
// Loads and checks mesh, trajectory and radius. Throws InputError.
std::unique_ptr<FrameSource> load_query_source(const QueryOptions& options, double wobble_fraction);

}  // namespace trocar
