// trocar meet: lists the pairs of faces of two meshes that meet while every vertex moves on a straight line between two
// instants, and their first contact.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "app/commands/commands.hpp"
#include "app/commands/options.hpp"
#include "cpu_collision/trees/meshes_meet.hpp"
#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "sim/support/files.hpp"

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

}  // namespace

void add_meet_command(CLI::App& program) {
  auto command = std::make_shared<MeetCommand>();
  CLI::App* sub =
      program.add_subcommand("meet", "List the faces of two moving meshes that meet, and the first contact");
  sub->add_option("A0", command->before[0], "First mesh at the first instant: .stl, .obj, .ply, .vtp, .vtk or .glb")
      ->required();
  sub->add_option("A1", command->after[0], "First mesh at the second instant")->required();
  sub->add_option("B0", command->before[1], "Second mesh at the first instant")->required();
  sub->add_option("B1", command->after[1], "Second mesh at the second instant")->required();
  sub->add_option("-o,--out", command->out, "Table of pairs: rows first,second,time,apart_mm");
  add_force_option(*sub, command->force);
  sub->add_option("--tolerance", command->tolerance_mm, "Distance at the reported time at which the search ends, mm")
      ->check(within(1e-6, 1.0))
      ->capture_default_str();
  sub->callback([command] { run(*command); });
}

}  // namespace trocar
