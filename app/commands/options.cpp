#include "app/commands/options.hpp"

#include <fmt/format.h>

#include <charconv>

#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "sim/scene/task_scene.hpp"
#include "sim/support/text.hpp"

namespace trocar {

void add_access_option(Command& command, SceneAccess& access) {
  command.option("--allow-outside", access.outside,
                 "Let the scene read files outside its folder and Trocar's data; only for scenes that you trust");
}

void add_force_option(Command& command, bool& force) {
  command.option("--force", force, "Write over an output file that exists, if Trocar wrote it");
}

void add_person_option(Command& command, std::string& person) {
  command.option("--person", person, "Id of who moves the instruments, for the recording")
      .checked(
          [](const std::string& id) {
            const std::string fault = name_fault(id);
            return fault.empty() ? fault : fmt::format("'{}' cannot be recorded: {}", printable(id), fault);
          },
          "ID");
}

void add_anatomy_option(Command& command, std::optional<std::uint32_t>& seed) {
  command
      .option("--anatomy", seed,
              "Seed of a variation of the anatomy, for a scene with [anatomy]; default: the scene's own")
      .within(0, 4294967295.0);
}

void add_level_option(Command& command, std::optional<int>& level) {
  command.option("--level", level, "Level of the task, for a scene with [[task.level]]; 1: the scene as written")
      .within(1, kMostLevels);
}

void add_query_options(Command& command, QueryOptions& options, bool required) {
  command.option("--mesh", options.mesh, "Organ: .stl, .obj, .ply, .vtp, .vtk or .glb, in millimetres")
      .required(required);
  command.option("--trajectory", options.trajectory, "Tool motion: .csv, one row per frame").required(required);
  command.option("--radius", options.radius_mm, "Tool radius, mm (2.5 for a 5 mm instrument)").required(required);
  command.option("--mode", options.mode, "static: each pose alone; swept: the motion since the previous frame")
      .one_of({"static", "swept"})
      .shown();
  command
      .option("--cover", options.cover,
              "Convex volume of a swept tool: paper (the 1999 method) or capsule (contains the whole sweep)")
      .one_of({"paper", "capsule"})
      .shown();
  command.option("--set", options.set, "volume: the faces in the convex volume; exact: the faces within the radius")
      .one_of({"volume", "exact"})
      .shown();
  command.option("--every", options.every, "Use every N-th row of the trajectory").within(1, 1e9).shown();
  command.option("--scale", options.scale, "Millimetres per unit of the mesh file").within(1e-6, 1e6).shown();
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
