// Defines options that several commands share: of a session, of output files, and of the frames of a touch query.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/command_line/command_line.hpp"
#include "app/compare/frame_source.hpp"
#include "sim/scene/scene_access.hpp"

namespace trocar {

// Adds --allow-outside to a command that loads a scene.
void add_access_option(Command& command, SceneAccess& access);

// Adds --force to a command, without which it writes over no file that the user named (refuse_existing).
void add_force_option(Command& command, bool& force);

// Defines --person. A name that cannot be recorded is refused (sim/support/text.hpp).
void add_person_option(Command& command, std::string& person);
// Adds --anatomy to a command that starts a session.
void add_anatomy_option(Command& command, std::optional<std::uint32_t>& seed);

// Adds --level to a command that starts a session.
void add_level_option(Command& command, std::optional<int>& level);

struct QueryOptions {
  std::string mesh, trajectory;
  std::string radius_mm;  // mm; a text, so that "abc" and "nan" get an error message with a remedy
  std::string mode = "swept", cover = "capsule", set = "exact";
  int every = 1;
  double scale = 1.0;  // mm per unit of the mesh file
};

void add_query_options(Command& command, QueryOptions& options, bool required);
QueryKind query_kind(const QueryOptions& options);
// Loads and checks mesh, trajectory and radius. Throws InputError.
std::unique_ptr<FrameSource> load_query_source(const QueryOptions& options, double wobble_fraction);

}  // namespace trocar
