#include "app/commands/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "geometry/error.hpp"
#include "geometry/printable.hpp"
#include "mesh/mesh_io.hpp"
#include "sim/scene/level_scene.hpp"
#include "sim/support/names.hpp"

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

void add_query_options(CLI::App& command, QueryOptions& options, bool required) {
  command.add_option("--mesh", options.mesh, "Organ: .stl, .obj, .ply, .vtp, .vtk or .glb, in millimetres")
      ->required(required);
  command.add_option("--trajectory", options.trajectory, "Tool motion: .csv, one row per frame")->required(required);
  command.add_option("--radius", options.radius_mm, "Tool radius, mm (2.5 for a 5 mm instrument)")->required(required);
  command.add_option("--mode", options.mode, "static: each pose alone; swept: the motion since the previous frame")
      ->check(CLI::IsMember({"static", "swept"}))
      ->capture_default_str();
  command
      .add_option("--cover", options.cover,
                  "Convex volume of a swept tool: paper (the 1999 method) or capsule (contains the whole sweep)")
      ->check(CLI::IsMember({"paper", "capsule"}))
      ->capture_default_str();
  command
      .add_option("--set", options.set, "volume: the faces in the convex volume; exact: the faces within the radius")
      ->check(CLI::IsMember({"volume", "exact"}))
      ->capture_default_str();
  command.add_option("--every", options.every, "Use every N-th row of the trajectory")
      ->check(within(1, 1e9))
      ->capture_default_str();
  command.add_option("--scale", options.scale, "Millimetres per unit of the mesh file")
      ->check(within(1e-6, 1e6))
      ->capture_default_str();
}

QueryKind query_kind(const QueryOptions& options) {
  return {options.mode == "static" ? ToolMode::Static : ToolMode::Swept,
          options.cover == "paper" ? Cover::Paper : Cover::Capsule,
          options.set == "volume" ? TouchSet::Volume : TouchSet::Exact};
}

namespace {

double radius_in_metres(const std::string& text) {
  double millimetres = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), millimetres);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw InputError(fmt::format("--radius '{}': not a number; give millimetres, for example 2.5 for a 5 mm instrument",
                                 printable(text)));
  }
  return millimetres * kMillimetre;
}

}  // namespace

std::unique_ptr<FrameSource> load_query_source(const QueryOptions& options, double wobble_fraction) {
  const double radius = radius_in_metres(options.radius_mm);
  Trajectory trajectory = load_trajectory(options.trajectory);
  TriangleMesh mesh = load_mesh(options.mesh, options.scale * kMillimetre);
  check_radius(radius, mesh.view());
  if (options.every > 1) trajectory = thinned(trajectory, static_cast<std::size_t>(options.every));
  return make_mesh_source(std::move(mesh), std::move(trajectory), radius, query_kind(options), wobble_fraction);
}

}  // namespace trocar
