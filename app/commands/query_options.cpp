#include "app/commands/query_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "app/commands/options.hpp"
#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"

namespace trocar {

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
