// trocar touch: lists the faces of an organ at rest that the shape of an instrument touches, and the depth of its tip.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "app/commands/commands.hpp"
#include "app/commands/options.hpp"
#include "app/compare/compare.hpp"
#include "app/compare/shape_touch.hpp"
#include "geometry/error.hpp"
#include "geometry/stopwatch.hpp"
#include "mesh/mesh_io.hpp"
#include "sim/support/files.hpp"
#include "sim/support/progress.hpp"

namespace trocar {
namespace {

struct TouchCommand {
  std::string mesh, trajectory, out, depth;
  std::vector<std::string> shapes;
  double scale = 1.0, most_deviation_mm = 0.3;
  int most_pieces = 16, every = 1;
  bool force = false;
};

Trajectory trajectory_of(const TouchCommand& command) {
  Trajectory trajectory = load_trajectory(command.trajectory);
  return command.every > 1 ? thinned(trajectory, static_cast<std::size_t>(command.every)) : trajectory;
}

void write_depth(std::ostream& out, std::size_t frame, const solids::TipDepth& tip) {
  const bool inside = tip.location == solids::PointLocation::Inside;
  fmt::print(out, "{},{},{:.6f}\n", frame, inside ? 1 : 0, tip.depth / kMillimetre);
}

void run(const TouchCommand& command) {
  std::vector<NamedFile> inputs = {{"--mesh", command.mesh}, {"--trajectory", command.trajectory}};
  for (const std::string& shape : command.shapes) inputs.push_back({"--shape", shape});
  const std::vector<NamedFile> outputs{{"--out", command.out}, {"--depth", command.depth}};
  refuse_same_files(inputs, outputs);
  OutputFile csv(command.out, OutputKind::Table);
  std::optional<OutputFile> depth;
  if (!command.depth.empty()) depth.emplace(command.depth, OutputKind::Table);
  refuse_existing(outputs, command.force);
  const Trajectory trajectory = trajectory_of(command);
  const TriangleMesh organ = load_mesh(command.mesh, command.scale * kMillimetre);
  if (organ.faces.empty()) throw InputError(fmt::format("{}: the mesh has no faces", command.mesh));
  std::vector<TriangleMesh> shapes;
  for (const std::string& file : command.shapes) shapes.push_back(load_mesh(file));
  ShapeTouch touch(organ, shapes, {command.most_deviation_mm * kMillimetre, command.most_pieces});
  fmt::print("{} convex pieces, one-sided Hausdorff distance from the shape at most {:.3f} mm\n", touch.pieces(),
             touch.deviation() / kMillimetre);
  csv.stream() << "frame,face\n";
  if (depth) depth->stream() << "frame,inside,depth_mm\n";
  std::size_t touched = 0, inside = 0;
  std::vector<double> times_ms;
  Progress progress("touch", trajectory.rows.size());
  for (std::size_t frame = 0; frame < trajectory.rows.size(); ++frame) {
    const TrajectoryRow& row = trajectory.rows[frame];
    const auto start = Clock::now();
    const auto faces = touch.touched(row);
    const solids::TipDepth tip = touch.tip_depth(row);
    times_ms.push_back(milliseconds_since(start));
    for (const FaceId face : faces) fmt::print(csv.stream(), "{},{}\n", frame, index(face));
    if (depth) write_depth(depth->stream(), frame, tip);
    touched += faces.size();
    inside += tip.location == solids::PointLocation::Inside ? 1 : 0;
    progress.advance_to(frame + 1);
  }
  if (depth) depth->commit();
  csv.commit();
  fmt::print("{} frames, {} faces, {} touched, tip inside in {} frames, median {:.4f} ms a frame, written to {}\n",
             trajectory.rows.size(), organ.faces.size(), touched, inside, summarise(std::move(times_ms)).median,
             command.out);
}

}  // namespace

void add_touch_command(CLI::App& program) {
  auto command = std::make_shared<TouchCommand>();
  CLI::App* sub =
      program.add_subcommand("touch", "List the faces of a mesh at rest that the shape of an instrument touches");
  sub->add_option("--mesh", command->mesh, "Organ: .stl, .obj, .ply, .vtp, .vtk or .glb, in millimetres")->required();
  sub->add_option("--shape", command->shapes,
                  "Shape of the instrument in millimetres, its tip towards +z; repeat for separate jaws")
      ->required();
  sub->add_option("--trajectory", command->trajectory,
                  "Motion: .csv, one row per frame; its tip is the tip of the shape")
      ->required();
  sub->add_option("-o,--out", command->out, "Table of touched faces: rows frame,face, sorted")->required();
  sub->add_option("--depth", command->depth, "Table of tip depths: rows frame,inside,depth_mm; negative outside");
  add_force_option(*sub, command->force);
  sub->add_option("--bulge", command->most_deviation_mm,
                  "Largest one-sided Hausdorff distance of a convex piece from the shape, mm")
      ->check(within(1e-3, 1000))
      ->capture_default_str();
  sub->add_option("--pieces", command->most_pieces, "Largest number of convex pieces of a shape")
      ->check(within(1, 256))
      ->capture_default_str();
  sub->add_option("--every", command->every, "Use every N-th row of the trajectory")
      ->check(within(1, 1e9))
      ->capture_default_str();
  sub->add_option("--scale", command->scale, "Millimetres per unit of the organ's file")
      ->check(within(1e-6, 1e6))
      ->capture_default_str();
  sub->callback([command] { run(*command); });
}

}  // namespace trocar
