// trocar mesh info | check | lattice | make | decimate.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/commands/commands.hpp"
#include "app/support/output_file.hpp"
#include "deform/lattice_report.hpp"
#include "geometry/error.hpp"
#include "mesh/decimate.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/mesh_report.hpp"
#include "mesh/organ_maker.hpp"
#include "mesh/superquadric.hpp"

namespace trocar {
namespace {

struct MeshCommand {
  std::string file, out, json, organ;
  double scale = 1.0;  // mm per unit of the file
  int faces = 20000;
  double spacing = 8.0;                                             // mm
  std::vector<double> size{50.0, 50.0, 50.0}, exponents{1.0, 1.0};  // mm, half; 1
  double hole = 20.0;                                               // mm
};

std::string_view unit_name(SizeUnit unit) {
  switch (unit) {
    case SizeUnit::Millimetre:
      return "millimetres";
    case SizeUnit::Centimetre:
      return "centimetres (use --scale 10)";
    case SizeUnit::Metre:
      return "metres (use --scale 1000)";
    case SizeUnit::Unclear:
      break;
  }
  return "unclear";
}

MeshReport report_of(const MeshCommand& command, bool crossings) {
  const TriangleMesh mesh = load_mesh(command.file, command.scale * kMillimetre);
  return mesh_report(mesh.view(), {.metres_per_unit = command.scale * kMillimetre, .find_crossings = crossings});
}

void print_size(const MeshReport& report) {
  const glm::dvec3 size = report.size() * 1e3;
  fmt::print("{} faces, {} vertices\n", report.faces, report.vertices);
  fmt::print("size          {:.2f} x {:.2f} x {:.2f} mm\n", size.x, size.y, size.z);
  fmt::print("area          {:.2f} cm^2\nvolume        {:.2f} ml\n", report.area * 1e4, report.volume * 1e6);
  fmt::print("median edge   {:.3f} mm\n", report.median_edge * 1e3);
  fmt::print("unit          {}\n", unit_name(report.suggested));
}

std::string yes_no(bool yes, const std::string& otherwise) { return yes ? "yes" : "NO, " + otherwise; }

void print_health(const MeshReport& report) {
  const Topology& t = report.topology;
  fmt::print("closed        {}\n",
             yes_no(t.closed(), fmt::format("{} edges have one face, {} holes", t.boundary_edges, t.holes.size())));
  fmt::print("2-manifold    {}\n", yes_no(t.manifold(), fmt::format("{} edges and {} vertices are not",
                                                                    t.non_manifold_edges, t.non_manifold_vertices)));
  fmt::print("oriented      {}\n",
             yes_no(t.oriented(), fmt::format("{} edges join faces of opposite sense", t.inconsistent_edges)));
  fmt::print("outward       {}\n",
             yes_no(report.outward(), fmt::format("{} pieces face inward", report.inward_pieces)));
  fmt::print("pieces        {}\n", t.components);
  fmt::print("degenerate    {} faces\nduplicate     {} faces\n", report.degenerate_faces(), report.duplicate_faces);
  fmt::print("self-crossing {} pairs of faces, {} folded pairs\n", report.crossing_pairs, report.folded_pairs);
  for (const auto& [a, b] : report.listed_pairs) fmt::print("              faces {} and {}\n", a, b);
  for (const Hole& hole : t.holes) {
    const glm::dvec3 at = hole.position * 1e3;
    fmt::print("hole          {} edges, {:.2f} mm round, at ({:.2f}, {:.2f}, {:.2f}) mm\n", hole.edges,
               hole.length * 1e3, at.x, at.y, at.z);
  }
}

nlohmann::ordered_json json_of(const MeshReport& r) {
  const glm::dvec3 size = r.size() * 1e3;
  return {{"faces", r.faces},
          {"vertices", r.vertices},
          {"size_mm", {size.x, size.y, size.z}},
          {"area_mm2", r.area * 1e6},
          {"volume_mm3", r.volume * 1e9},
          {"unit", unit_name(r.suggested)},
          {"closed", r.topology.closed()},
          {"manifold", r.topology.manifold()},
          {"oriented", r.topology.oriented()},
          {"outward", r.outward()},
          {"components", r.topology.components},
          {"euler_characteristic", r.topology.euler_characteristic},
          {"boundary_edges", r.topology.boundary_edges},
          {"non_manifold_edges", r.topology.non_manifold_edges},
          {"degenerate_faces", r.degenerate_faces()},
          {"duplicate_faces", r.duplicate_faces},
          {"crossing_pairs", r.crossing_pairs},
          {"folded_pairs", r.folded_pairs},
          {"sound", r.sound()}};
}

void write_json(const MeshCommand& command, const MeshReport& report) {
  if (command.json.empty()) return;
  OutputFile out(command.json);
  out.stream() << json_of(report).dump(2) << "\n";
  out.commit();
}

void print_lattice(const MeshCommand& command) {
  const TriangleMesh mesh = load_mesh(command.file, command.scale * kMillimetre);
  TissueParams params;
  params.node_spacing = static_cast<float>(command.spacing * kMillimetre);
  const LatticeReport report = lattice_report(make_tissue(mesh.view(), params, {}), mesh.positions);
  fmt::print("lattice       {} cells, {} nodes, {} springs, {:g} mm apart\n", report.cells, report.nodes,
             report.springs, command.spacing);
  fmt::print("whole cells   {:.0f} %\n", 100.0 * report.whole);
  fmt::print("volume        {:.2f} ml in cells, {:.2f} ml in the surface ({:+.2f} %)\n", report.volume * 1e6,
             report.organ_volume * 1e6, 100.0 * (report.volume / report.organ_volume - 1.0));
  fmt::print("mass          {:.4f} kg\n", report.mass);
  fmt::print("pieces        {}\n", report.pieces);
  fmt::print("cells across  {:g} (median; from 5 on bending is within 5 % of beam theory)\n", report.cells_across);
  fmt::print("surface       {:.2g} mm at most from where its weights put it\n", report.worst_embedding * 1e3);
  fmt::print("substep       {:.3f} ms at most: {} in a frame of 1/60 s, at {:g} kPa\n", report.longest_substep * 1e3,
             report.substeps_per_frame, params.youngs_modulus * 1e-3);
}

void check(const MeshCommand& command) {
  const MeshReport report = report_of(command, true);
  print_size(report);
  print_health(report);
  write_json(command, report);
  fmt::print("{}\n", report.sound() ? "sound: fit for simulation" : "not sound: see the lines above");
}

TriangleMesh shape_of(const MeshCommand& command) {
  const bool toroid = command.organ == "supertoroid";
  if (!toroid && command.organ != "superellipsoid") return make_organ(command.organ, {.faces = command.faces});
  return make_superquadric({.kind = toroid ? SuperquadricKind::Toroid : SuperquadricKind::Ellipsoid,
                            .size = kMillimetre * glm::dvec3(command.size[0], command.size[1], command.size[2]),
                            .profile_exponent = command.exponents[0],
                            .outline_exponent = command.exponents[1],
                            .hole = kMillimetre * command.hole,
                            .faces = command.faces});
}

void make(const MeshCommand& command) {
  const TriangleMesh mesh = shape_of(command);
  save_mesh(mesh, command.out);
  fmt::print("{}: {} faces, {} vertices, written to {}\n", command.organ, mesh.faces.size(), mesh.positions.size(),
             command.out);
}

void decimate_file(const MeshCommand& command) {
  const double unit = command.scale * kMillimetre;
  const TriangleMesh mesh = load_mesh(command.file, unit);
  const Decimated result = decimate(mesh, {.faces = static_cast<std::size_t>(command.faces)});
  save_mesh(result.mesh, command.out, unit);
  fmt::print("{} faces became {}; mean error {:.4f} mm, largest {:.4f} mm; written to {}\n", mesh.faces.size(),
             result.mesh.faces.size(), result.mean_error * 1e3, result.max_error * 1e3, command.out);
}

CLI::App* add_file_command(CLI::App& mesh, const char* name, const char* what, MeshCommand& command) {
  CLI::App* sub = mesh.add_subcommand(name, what);
  sub->add_option("file", command.file, "Mesh: .stl, .obj, .ply, .vtp or .vtk")->required();
  sub->add_option("--scale", command.scale, "Millimetres per unit of the file")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  return sub;
}

}  // namespace

void add_mesh_command(CLI::App& program) {
  auto command = std::make_shared<MeshCommand>();
  CLI::App* mesh = program.add_subcommand("mesh", "Mesh tools");
  mesh->require_subcommand(1);
  CLI::App* info = add_file_command(*mesh, "info", "Counts, size, area, volume, unit", *command);
  info->callback([command] { print_size(report_of(*command, false)); });

  CLI::App* lattice = add_file_command(*mesh, "lattice", "The tissue lattice it would be filled with", *command);
  lattice->add_option("--spacing", command->spacing, "Distance of the nodes, mm")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  lattice->callback([command] { print_lattice(*command); });

  CLI::App* checking = add_file_command(*mesh, "check", "Closed? manifold? oriented? crossing itself?", *command);
  checking->add_option("--json", command->json, "The report as JSON");
  checking->callback([command] { check(*command); });

  CLI::App* making = mesh->add_subcommand("make", "Our own organs and superquadrics, of any number of faces");
  making->add_option("organ", command->organ, "liver, stomach, gallbladder, superellipsoid or supertoroid")->required();
  making->add_option("--faces", command->faces, "Number of faces")->capture_default_str();
  making->add_option("--size", command->size, "Superquadric: half sizes X,Y,Z in mm")
      ->delimiter(',')
      ->expected(3)
      ->capture_default_str();
  making->add_option("--exponents", command->exponents, "Superquadric: E1 of the profile, E2 of the outline, 0.1 to 4")
      ->delimiter(',')
      ->expected(2)
      ->capture_default_str();
  making->add_option("--hole", command->hole, "Supertoroid: half size of the hole along X in mm")
      ->capture_default_str();
  making->add_option("-o,--out", command->out, "Mesh to write")->required();
  making->callback([command] { make(*command); });

  CLI::App* decimating =
      add_file_command(*mesh, "decimate", "Fewer faces, same shape, with the error it causes", *command);
  decimating->add_option("--faces", command->faces, "Number of faces wanted")->check(CLI::PositiveNumber)->required();
  decimating->add_option("-o,--out", command->out, "Mesh to write")->required();
  decimating->callback([command] { decimate_file(*command); });
}

}  // namespace trocar
