// trocar query: lists the faces that a tool or the shape of an instrument touches on a mesh at rest, frame by frame,
// and the pairs of faces of two moving meshes that meet.   Tested in tests/app/program_test.cpp
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/commands/commands.hpp"
#include "app/commands/options.hpp"
#include "app/compare/backends.hpp"
#include "app/compare/compare.hpp"
#include "app/compare/shape_touch.hpp"
#include "cpu_collision/trees/motion_crossing.hpp"
#include "geometry/error.hpp"
#include "geometry/machine.hpp"
#include "mesh/mesh_io.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"
#include "sim/support/progress.hpp"

namespace trocar {
namespace {

struct MeetCommand {
  std::string before[2], after[2], out;
  double tolerance_mm = 1e-3;
  bool force = false;
};

struct Instants {
  TriangleMesh before, after;

  MovingMesh motion() const { return {before.positions, after.positions, before.faces}; }
};

Instants load(const std::string& before, const std::string& after) {
  Instants mesh{load_mesh(before), load_mesh(after)};
  if (mesh.before.faces.empty()) throw InputError(fmt::format("{}: the mesh has no faces", before));
  if (mesh.before.faces != mesh.after.faces || mesh.before.positions.size() != mesh.after.positions.size())
    throw InputError(
        fmt::format("{}: its faces are not those of {}; give one mesh at two instants, with the same faces "
                    "in the same order",
                    after, before));
  return mesh;
}

void run(const MeetCommand& command) {
  refuse_same_files(
      {{"A0", command.before[0]}, {"A1", command.after[0]}, {"B0", command.before[1]}, {"B1", command.after[1]}},
      {{"--out", command.out}});
  std::optional<OutputFile> csv;
  if (!command.out.empty()) csv.emplace(command.out, OutputKind::Table);
  refuse_existing({{"--out", command.out}}, command.force);
  const Instants first = load(command.before[0], command.after[0]), second = load(command.before[1], command.after[1]);
  const auto meetings = meshes_meet(first.motion(), second.motion(), command.tolerance_mm * kMillimetre);
  if (csv) {
    csv->stream() << "first,second,time,apart_mm\n";
    for (const FaceMeeting& meeting : meetings)
      fmt::print(csv->stream(), "{},{},{:.9g},{:.6g}\n", index(meeting.first), index(meeting.second), meeting.time,
                 meeting.apart / kMillimetre);
    csv->commit();
  }
  fmt::print("{} and {} faces, pairs that meet: {}\n", first.before.faces.size(), second.before.faces.size(),
             meetings.size());
  if (const auto contact = first_contact(meetings))
    fmt::print("first contact at {:.6f} of the step: face {} of {} and face {} of {}\n", contact->time,
               index(contact->first), command.before[0], index(contact->second), command.before[1]);
}

void add_meet_command(Command& query) {
  auto command = std::make_shared<MeetCommand>();
  Command& sub = query.command("meet", "List the faces of two moving meshes that meet, and the first contact");
  sub.option("A0", command->before[0], "First mesh at the first instant: .stl, .obj, .ply, .vtp, .vtk or .glb")
      .required();
  sub.option("A1", command->after[0], "First mesh at the second instant").required();
  sub.option("B0", command->before[1], "Second mesh at the first instant").required();
  sub.option("B1", command->after[1], "Second mesh at the second instant").required();
  sub.option("-o,--out", command->out, "Table of pairs: rows first,second,time,apart_mm");
  add_force_option(sub, command->force);
  sub.option("--tolerance", command->tolerance_mm, "Distance at the reported time at which the search ends, mm")
      .within(1e-6, 1.0)
      .shown();
  sub.runs([command] { run(*command); });
}

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

void add_touch_command(Command& query) {
  auto command = std::make_shared<TouchCommand>();
  Command& sub = query.command("touch", "List the faces of a mesh at rest that the shape of an instrument touches");
  sub.option("--mesh", command->mesh, "Organ: .stl, .obj, .ply, .vtp, .vtk or .glb, in millimetres").required();
  sub.option("--shape", command->shapes,
             "Shape of the instrument in millimetres, its tip towards +z; repeat for separate jaws")
      .required();
  sub.option("--trajectory", command->trajectory, "Motion: .csv, one row per frame; its tip is the tip of the shape")
      .required();
  sub.option("-o,--out", command->out, "Table of touched faces: rows frame,face, sorted").required();
  sub.option("--depth", command->depth, "Table of tip depths: rows frame,inside,depth_mm; negative outside");
  add_force_option(sub, command->force);
  sub.option("--bulge", command->most_deviation_mm,
             "Largest one-sided Hausdorff distance of a convex piece from the shape, mm")
      .within(1e-3, 1000)
      .shown();
  sub.option("--pieces", command->most_pieces, "Largest number of convex pieces of a shape").within(1, 256).shown();
  sub.option("--every", command->every, "Use every N-th row of the trajectory").within(1, 1e9).shown();
  sub.option("--scale", command->scale, "Millimetres per unit of the organ's file").within(1e-6, 1e6).shown();
  sub.runs([command] { run(*command); });
}

struct QueryCommand {
  QueryOptions query;
  std::string backend = "auto", out, json;
  bool force = false;
};

nlohmann::ordered_json touch_record(std::size_t frame, const Touch& touch) {
  return {{"frame", frame},
          {"face", index(touch.face)},
          {"point_mm", {touch.point.x * 1e3, touch.point.y * 1e3, touch.point.z * 1e3}},
          {"normal", {touch.normal.x, touch.normal.y, touch.normal.z}},
          {"depth_mm", touch.depth * 1e3},
          {"time", touch.time}};
}

nlohmann::ordered_json header(const QueryCommand& command, const FrameSource& source, const BackendChoice& choice,
                              Backends& backends) {
  return {{"backend", choice.name},
          {"why", choice.why},
          {"machine", machine_description()},
          {"gl", gl_description(backends)},
          {"faces", source.organ(0).faces.size()},
          {"frames", source.frame_count()},
          {"radius_mm", source.radius() * 1e3},
          {"mode", command.query.mode},
          {"cover", command.query.cover},
          {"set", command.query.set}};
}

void run(const QueryCommand& command) {
  const std::vector<NamedFile> outputs{{"--out", command.out}, {"--json", command.json}};
  refuse_same_files({{"--mesh", command.query.mesh}, {"--trajectory", command.query.trajectory}}, outputs);
  OutputFile csv(command.out, OutputKind::Table);
  std::optional<OutputFile> json_file;
  if (!command.json.empty()) json_file.emplace(command.json, OutputKind::Json);
  refuse_existing(outputs, command.force);
  const auto source = load_query_source(command.query, 0.0);
  Backends backends;
  const BackendChoice choice = backends.resolve(command.backend, std::array{source->organ(0)});
  const auto query = backends.make(choice.name);
  fmt::print("backend {}: {}\n", choice.name, choice.why);

  query->rebuild(source->organ(0));
  require_start(*query);
  nlohmann::ordered_json records = nlohmann::ordered_json::array();
  std::vector<double> query_ms;
  std::size_t touched = 0;
  csv.stream() << "frame,face\n";
  Progress progress("query", source->frame_count());
  for (std::size_t frame = 0; frame < source->frame_count(); ++frame) {
    source->load(frame);
    query->update(source->positions(0));
    const TouchList list = query->touched(source->tools(), source->kind().set);
    require_answer(*query);
    query_ms.push_back(query->times().total_ms());
    touched += list.touches.size();
    for (const Touch& touch : list.touches) {
      fmt::print(csv.stream(), "{},{}\n", frame, index(touch.face));
      if (json_file && source->kind().set == TouchSet::Exact) records.push_back(touch_record(frame, touch));
    }
    progress.advance_to(frame + 1);
  }
  const double median_ms = summarise(std::move(query_ms)).median;
  if (json_file) {
    auto json = header(command, *source, choice, backends);
    json["touched"] = touched;
    json["median_ms"] = median_ms;
    json["touches"] = std::move(records);
    json_file->stream() << json.dump(1) << "\n";
    json_file->commit();
  }
  csv.commit();
  fmt::print("{} frames, {} faces, {} touched, median {:.4f} ms a frame, written to {}\n", source->frame_count(),
             source->organ(0).faces.size(), touched, median_ms, command.out);
}

}  // namespace

void add_query_command(Command& program) {
  auto command = std::make_shared<QueryCommand>();
  Command& sub = program.command("query", "List the faces of a mesh at rest that a tool touches in each frame");
  add_query_options(sub, command->query, true);
  sub.option("--backend", command->backend, "auto or one of the backends below").shown();
  sub.option("-o,--out", command->out, "Table of touched faces: rows frame,face, sorted").required();
  sub.option("--json", command->json, "Write the same as JSON, with point, normal, depth and time of each touch");
  add_force_option(sub, command->force);
  sub.footer(backend_help());
  sub.runs([command] { run(*command); });
  add_touch_command(sub);
  add_meet_command(sub);
}

}  // namespace trocar
