// trocar mesh info | check | lattice | make | decimate | repair | transform | parts: examines meshes and makes new
// ones. Tested in tests/app/files_test.cpp
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "app/commands/commands.hpp"
#include "app/commands/options.hpp"
#include "deform/solid/lattice.hpp"
#include "deform/solid/tissue.hpp"
#include "geometry/error.hpp"
#include "mesh/decimate.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/mesh_report.hpp"
#include "mesh/organ_maker.hpp"
#include "mesh/repair.hpp"
#include "sim/support/files.hpp"
#include "study/shapes/superquadric.hpp"

namespace trocar {
namespace {

constexpr std::size_t kLongestName = 100;  // characters of a file name

struct PartsCommand {
  std::string file, out;
  double scale = 1.0;  // mm per unit of the file
};

// A name in letters, digits, - and _, which no other part has.
std::string file_name_of(const std::string& part, std::set<std::string>& taken) {
  std::string name;
  for (const char c : part.substr(0, kLongestName)) {
    const bool kept =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    name += kept ? c : '_';
  }
  if (name.empty()) name = "part";
  std::string unique = name;
  for (int k = 2; !taken.insert(unique).second; ++k) unique = fmt::format("{}_{}", name, k);
  return unique + ".obj";
}

// All files are checked before the first is written.
std::vector<std::filesystem::path> files_for(const std::vector<MeshPart>& parts, const PartsCommand& command) {
  const std::string& folder = command.out;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!std::filesystem::is_directory(folder))
    throw InputError(fmt::format("{}: the folder cannot be made; name another one", folder));
  std::vector<std::filesystem::path> files;
  std::set<std::string> taken;
  for (const MeshPart& part : parts) {
    files.push_back(std::filesystem::path(folder) / file_name_of(part.name, taken));
    refuse_same_files({{"the mesh", command.file}}, {{"--out", files.back().string()}});
    refuse_foreign(files.back().string(), OutputKind::Mesh);
  }
  return files;
}

void list_parts(const PartsCommand& command) {
  const double unit = command.scale * kMillimetre;
  const std::vector<MeshPart> parts = load_mesh_parts(command.file, unit);
  std::vector<std::filesystem::path> files;
  if (!command.out.empty()) files = files_for(parts, command);
  fmt::print("{:>9} {:>9}  {:>22}  {:>6}  part\n", "faces", "vertices", "size, mm", "closed");
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const MeshReport report = mesh_report(parts[k].mesh.view(), {.metres_per_unit = unit, .find_crossings = false});
    const glm::dvec3 size = report.size() * 1e3;
    fmt::print("{:>9} {:>9}  {:>22}  {:>6}  {}\n", report.faces, report.vertices,
               fmt::format("{:.1f} x {:.1f} x {:.1f}", size.x, size.y, size.z), report.welded.closed() ? "yes" : "no",
               printable(parts[k].name));
    if (!files.empty()) save_mesh(parts[k].mesh, files[k], unit);
  }
  fmt::print("{}", files.empty() ? "" : fmt::format("written to {}\n", command.out));
}

void add_mesh_parts_command(Command& mesh) {
  auto command = std::make_shared<PartsCommand>();
  Command& sub = mesh.command("parts", "List the parts of a glTF file; with -o write each as an .obj");
  sub.option("file", command->file, "Mesh, with parts: .glb or .gltf").required();
  sub.option("--scale", command->scale, "Millimetres per unit of the file; glTF's metres count as 1000")
      .within(1e-6, 1e6)
      .shown();
  sub.option("-o,--out", command->out, "Folder for the parts");
  sub.runs([command] { list_parts(*command); });
}

constexpr double kMostFaces = 20e6;  // more exceed the memory of a typical machine

struct MeshCommand {
  std::string file, out, json, organ;
  double scale = 1.0;  // mm per unit of the file
  int faces = 20000;
  double spacing = 8.0;                                             // mm
  std::vector<double> size{50.0, 50.0, 50.0}, exponents{1.0, 1.0};  // mm, half; 1
  double hole = 20.0;                                               // mm
  double join = 0.0, longest_boundary = 100.0;                      // mm
  std::string axes = "trocar";
  std::vector<double> rotate_deg{0.0, 0.0, 0.0}, offset{0.0, 0.0, 0.0};  // degrees; mm
  bool force = false;
};

// A mesh with its report and what its file says.
struct Examined {
  TriangleMesh mesh;
  MeshFacts facts;
  MeshReport report;
  double scale = 1.0;  // mm per unit of the file

  FileUnit unit() const { return unit_of_file(report.longest_side(), scale, facts); }
};

// Returns the unit that the file states or its size suggests; with the --scale to use when it is read in another unit.
std::string unit_text(const Examined& examined) {
  const FileUnit unit = examined.unit();
  const bool in_use = std::abs(unit.mm_per_unit / examined.scale - 1.0) < 1e-9;
  return unit.name + (unit.stated ? ", as the file says" : "") +
         (unit.mm_per_unit == 0.0 || in_use ? "" : fmt::format(" (use --scale {:g})", unit.mm_per_unit));
}

Examined examined(const MeshCommand& command, bool crossings) {
  const double unit = command.scale * kMillimetre;
  LoadedMesh loaded = load_turned(command.file, unit);
  MeshReport report = mesh_report(loaded.mesh.view(),
                                  {.metres_per_unit = unit * loaded.facts.mm_per_number, .find_crossings = crossings});
  return {std::move(loaded.mesh), std::move(loaded.facts), std::move(report), command.scale};
}

// Prints what is unusual about the file. Organs of other programs have other axes.
void print_facts(const MeshFacts& facts) {
  if (!facts.axes.empty())
    fmt::print(
        "axes          {0}, as the file says: set axes = \"{0}\" for the organ in a scene, or use `trocar mesh "
        "transform --axes {0}`\n",
        facts.axes);
  for (const std::string& note : facts.notes) fmt::print("note          {}\n", note);
}

void print_size(const Examined& examined) {
  const MeshReport& report = examined.report;
  const glm::dvec3 size = report.size() * 1e3;
  fmt::print("{} faces, {} vertices\n", report.faces, report.vertices);
  fmt::print("size          {:.2f} x {:.2f} x {:.2f} mm\n", size.x, size.y, size.z);
  fmt::print("area          {:.2f} cm^2\nvolume        {:.2f} ml\n", report.area * 1e4, report.volume * 1e6);
  fmt::print("median edge   {:.3f} mm\n", report.median_edge * 1e3);
  fmt::print("unit          {}\n", unit_text(examined));
  print_facts(examined.facts);
}

std::string yes_no(bool yes, const std::string& otherwise) { return yes ? "yes" : "NO, " + otherwise; }

std::string count_of(std::size_t count, const std::string& one, const std::string& many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}
std::string count_of(std::size_t count, const std::string& what) { return count_of(count, what, what + "s"); }

std::string closed_text(const Topology& t) {
  return yes_no(t.closed(), fmt::format("{} with one face, {}", count_of(t.boundary_edges, "edge"),
                                        count_of(t.holes.size(), "hole")));
}
std::string manifold_text(const Topology& t) {
  const std::string edges = count_of(t.non_manifold_edges, "edge") + " with more than two faces",
                    points = count_of(t.non_manifold_vertices, "point") + " where separate fans of faces meet";
  return yes_no(t.manifold(), t.non_manifold_vertices == 0 ? edges
                              : t.non_manifold_edges == 0  ? points
                                                           : edges + ", " + points);
}
std::string oriented_text(const Topology& t) {
  return yes_no(t.oriented(),
                fmt::format("{} whose two faces have opposite orientations", count_of(t.inconsistent_edges, "edge")));
}

// Returns "yes" for a credible organ size; else the size and the unit that is probably right.
std::string size_text(const Examined& examined) {
  const std::string fault = size_fault(examined.report.longest_side(), examined.scale, examined.facts, "--scale");
  return yes_no(fault.empty(), fault);
}

// Prints the topology of the file's own vertices, only if the mesh has seams.
void print_seams(const MeshReport& report) {
  if (report.repeated_positions == 0) return;
  const Topology& t = report.topology;
  fmt::print("seams         {} of {} vertices repeat a position; below, vertices at the same position are joined\n",
             report.repeated_positions, report.vertices);
  fmt::print("unjoined      closed {}; 2-manifold {}; oriented {}; {}\n", closed_text(t), manifold_text(t),
             oriented_text(t), count_of(t.components, "piece"));
}

void print_health(const Examined& examined) {
  const MeshReport& report = examined.report;
  const Topology& t = report.welded;
  fmt::print("organ size    {}\n", size_text(examined));
  print_seams(report);
  fmt::print("closed        {}\n2-manifold    {}\noriented      {}\n", closed_text(t), manifold_text(t),
             oriented_text(t));
  fmt::print("outward       {}\n", yes_no(report.outward(), fmt::format("{} whose faces point inward",
                                                                        count_of(report.inward_pieces, "piece"))));
  fmt::print("pieces        {}\n", t.components);
  fmt::print("degenerate    {}\nduplicate     {}\n", count_of(report.degenerate_faces(), "face"),
             count_of(report.duplicate_faces, "face"));
  fmt::print("self-crossing {} of faces, {}\n", count_of(report.crossing_pairs, "pair"),
             count_of(report.folded_pairs, "folded pair"));
  for (const auto& [a, b] : report.listed_pairs) fmt::print("              faces {} and {}\n", a, b);
  for (const Hole& hole : t.holes) {
    const glm::dvec3 at = hole.position * 1e3;
    fmt::print("hole          {}, {:.2f} mm round, at ({:.2f}, {:.2f}, {:.2f}) mm\n", count_of(hole.edges, "edge"),
               hole.length * 1e3, at.x, at.y, at.z);
  }
  fmt::print("solid         {}\n", report.fault.empty() ? "yes, tissue can fill it" : "NO, " + report.fault);
}

nlohmann::ordered_json json_of(const Topology& t) {
  return {{"closed", t.closed()},
          {"manifold", t.manifold()},
          {"oriented", t.oriented()},
          {"components", t.components},
          {"euler_characteristic", t.euler_characteristic},
          {"boundary_edges", t.boundary_edges},
          {"non_manifold_edges", t.non_manifold_edges},
          {"inconsistent_edges", t.inconsistent_edges},
          {"non_manifold_vertices", t.non_manifold_vertices}};
}

// The top-level topology keys describe the welded surface, which decides whether the mesh is sound.
nlohmann::ordered_json json_of(const Examined& examined) {
  const MeshReport& r = examined.report;
  const glm::dvec3 size = r.size() * 1e3;
  nlohmann::ordered_json json = {{"faces", r.faces},
                                 {"vertices", r.vertices},
                                 {"repeated_positions", r.repeated_positions},
                                 {"size_mm", {size.x, size.y, size.z}},
                                 {"area_mm2", r.area * 1e6},
                                 {"volume_mm3", r.volume * 1e9},
                                 {"unit", unit_text(examined)},
                                 {"size_credible", credible_size(r.longest_side())}};
  json.update(json_of(r.welded));
  json["outward"] = r.outward();
  json["degenerate_faces"] = r.degenerate_faces();
  json["duplicate_faces"] = r.duplicate_faces;
  json["crossing_pairs"] = r.crossing_pairs;
  json["folded_pairs"] = r.folded_pairs;
  json["tissue_fault"] = r.fault;
  json["sound"] = r.fit_for_simulation();
  json["unjoined"] = json_of(r.topology);
  if (!examined.facts.axes.empty()) json["axes"] = examined.facts.axes;
  if (!examined.facts.notes.empty()) json["notes"] = examined.facts.notes;
  return json;
}

void write_json(const MeshCommand& command, const Examined& examined) {
  if (command.json.empty()) return;
  OutputFile out(command.json, OutputKind::Json);
  out.stream() << json_of(examined).dump(2) << "\n";
  out.commit();
}

void print_lattice(const MeshCommand& command) {
  const Examined organ = examined(command, true);
  const TriangleMesh& mesh = organ.mesh;
  TissueParams params;
  params.node_spacing = static_cast<float>(command.spacing * kMillimetre);
  const std::string fault = lattice_fault(mesh.view(), params.node_spacing), size = size_text(organ);
  if (!fault.empty() && size != "yes")
    throw InputError(size_fault(organ.report.longest_side(), organ.scale, organ.facts, "--scale"));
  if (!organ.report.fault.empty()) throw InputError(organ.report.fault);
  const LatticeReport report = lattice_report(make_tissue(mesh.view(), params, {}), mesh.positions);
  fmt::print("organ size    {}\n", size);
  fmt::print("lattice       {} cells, {} nodes, {} springs, {:g} mm apart\n", report.cells, report.nodes,
             report.springs, command.spacing);
  fmt::print("whole cells   {:.0f} %\n", 100.0 * report.whole);
  fmt::print("volume        {:.2f} ml in cells, {:.2f} ml in the surface ({:+.2f} %)\n", report.volume * 1e6,
             report.organ_volume * 1e6, 100.0 * (report.volume / report.organ_volume - 1.0));
  fmt::print("mass          {:.4f} kg\n", report.mass);
  fmt::print("pieces        {}\n", report.pieces);
  fmt::print("cells across  {:g} (median; from 5 on bending is within 5 % of beam theory)\n", report.cells_across);
  fmt::print("surface       embedding error {:.2g} mm at most\n", report.worst_embedding * 1e3);
  fmt::print("substep       {:.3f} ms at most: {} per frame of 1/60 s, at {:g} kPa\n", report.longest_substep * 1e3,
             report.substeps_per_frame, params.youngs_modulus * 1e-3);
}

void check(const MeshCommand& command) {
  refuse_same_files({{"the mesh", command.file}}, {{"--json", command.json}});
  if (!command.json.empty()) refuse_foreign(command.json, OutputKind::Json);
  refuse_existing({{"--json", command.json}}, command.force);
  const Examined organ = examined(command, true);
  const MeshReport& report = organ.report;
  print_size(organ);
  print_health(organ);
  write_json(command, organ);
  fmt::print("{}\n", report.fit_for_simulation() ? "sound: fit for simulation" : "not sound: see the lines above");
  if (!report.fit_for_simulation())
    throw RunError(fmt::format("{}: the mesh is not fit for simulation; the report says why", command.file));
}

// Checks the mesh to write.
void check_output(const MeshCommand& command) {
  refuse_same_files({{"the mesh", command.file}}, {{"--out", command.out}});
  refuse_foreign(command.out, OutputKind::Mesh);
  refuse_existing({{"--out", command.out}}, command.force);
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
  check_output(command);
  const TriangleMesh mesh = shape_of(command);
  save_mesh(mesh, command.out);
  fmt::print("{}: {} faces, {} vertices, written to {}\n", command.organ, mesh.faces.size(), mesh.positions.size(),
             command.out);
}

void decimate_file(const MeshCommand& command) {
  check_output(command);
  const double unit = command.scale * kMillimetre;
  const TriangleMesh mesh = load_mesh(command.file, unit);
  const Decimated result = decimate(mesh, {.faces = static_cast<std::size_t>(command.faces)});
  save_mesh(result.mesh, command.out, unit);
  fmt::print("{} faces became {}; mean error {:.4f} mm, largest {:.4f} mm; written to {}\n", mesh.faces.size(),
             result.mesh.faces.size(), result.mean_error * 1e3, result.max_error * 1e3, command.out);
  if (!result.health.sound()) fmt::print("the result has faults; `trocar mesh check {}` lists them\n", command.out);
}

void print_repair(const Repaired& repaired) {
  const RepairCounts& counts = repaired.counts;
  fmt::print("joined        {}\n", count_of(counts.joined_vertices, "vertex", "vertices"));
  fmt::print("dropped       {} with repeated corners or the corners of another, {} in loose pieces, {} without faces\n",
             count_of(counts.dropped_faces, "face"), count_of(counts.loose_faces, "face"),
             count_of(counts.unused_vertices, "vertex", "vertices"));
  fmt::print("turned        {}\n", count_of(counts.turned_faces, "face"));
  fmt::print("replaced      {} without area\n", count_of(counts.replaced_faces, "face"));
  fmt::print("closed        {}, with {}\n", count_of(counts.closed_holes, "hole"),
             count_of(counts.new_faces, "new face"));
  fmt::print("new surface   at most {:.4f} mm from the old one\n", counts.farthest * 1e3);
}

void repair_file(const MeshCommand& command) {
  check_output(command);
  const double unit = command.scale * kMillimetre;
  const TriangleMesh mesh = load_mesh(command.file, unit);
  const Repaired result = [&] {
    try {
      return repair(mesh, {.join_distance = command.join * kMillimetre,
                           .longest_boundary = command.longest_boundary * kMillimetre});
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", command.file, error.what()));
    }
  }();
  save_mesh(result.mesh, command.out, unit);
  print_repair(result);
  fmt::print("{} faces became {}, sound, written to {}\n", mesh.faces.size(), result.mesh.faces.size(), command.out);
}

void transform_file(const MeshCommand& command) {
  check_output(command);
  MeshPlacement placement{.mm_per_unit = command.scale};
  for (const MeshAxes axes : kMeshAxes)
    if (command.axes == name_of(axes)) placement.axes = axes;
  for (int k = 0; k < 3; ++k) {
    placement.rotate_deg[k] = command.rotate_deg[static_cast<std::size_t>(k)];
    placement.offset[k] = static_cast<float>(command.offset[static_cast<std::size_t>(k)] * kMillimetre);
  }
  const TriangleMesh mesh = load_placed(command.file, placement).mesh;
  save_mesh(mesh, command.out);
  const glm::dvec3 size = mesh_report(mesh.view(), {.find_crossings = false}).size() * 1e3;
  fmt::print("{} faces, {:.2f} x {:.2f} x {:.2f} mm (left to right, foot to head, back to front), written to {}\n",
             mesh.faces.size(), size.x, size.y, size.z, command.out);
}

Command& add_mesh_file_command(Command& mesh, const char* name, const char* what, MeshCommand& command) {
  Command& sub = mesh.command(name, what);
  sub.option("file", command.file, "Mesh: .stl, .obj, .ply, .vtp, .vtk or .glb").required();
  sub.option("--scale", command.scale, "Millimetres per unit of the file").within(1e-6, 1e6).shown();
  return sub;
}

void add_transform_command(Command& mesh, const std::shared_ptr<MeshCommand>& command) {
  Command& sub =
      add_mesh_file_command(mesh, "transform",
                            "Turn and move a mesh: first the unit, then the axes, the angles and the offset; "
                            "the result is in millimetres, with x left, y head, z front",
                            *command);
  std::vector<std::string> axes;
  for (const MeshAxes one : kMeshAxes) axes.emplace_back(name_of(one));
  sub.option("--axes", command->axes, "Axes of the file: trocar, LPS (3D Slicer, DICOM) or RAS (NIfTI)")
      .one_of(axes)
      .shown();
  sub.option("--rotate-deg", command->rotate_deg, "Then turn about x, then y, then z: X,Y,Z in degrees")
      .with_commas(3)
      .within(-360, 360)
      .shown();
  sub.option("--offset-mm", command->offset, "Then move by X,Y,Z in mm").with_commas(3).within(-999e3, 999e3).shown();
  sub.option("-o,--out", command->out, "Mesh to write").required();
  add_force_option(sub, command->force);
  sub.runs([command] { transform_file(*command); });
}

}  // namespace

void add_mesh_command(Command& program) {
  auto command = std::make_shared<MeshCommand>();
  Command& mesh = program.command("mesh", "Mesh tools");
  Command& info = add_mesh_file_command(mesh, "info", "Counts, size, area, volume, unit", *command);
  info.runs([command] { print_size(examined(*command, false)); });

  Command& lattice =
      add_mesh_file_command(mesh, "lattice", "Describe the tissue lattice that fills this mesh", *command);
  lattice.option("--spacing", command->spacing, "Distance between the nodes, mm").within(0.1, 1000).shown();
  lattice.runs([command] { print_lattice(*command); });

  Command& checking = add_mesh_file_command(
      mesh, "check", "Check that the mesh is closed, manifold, oriented and free of self-intersections", *command);
  checking.option("--json", command->json, "Write the report as JSON");
  add_force_option(checking, command->force);
  checking.runs([command] { check(*command); });

  Command& making = mesh.command("make", "Make a built-in organ or a superquadric with a given number of faces");
  making
      .option("organ", command->organ,
              "liver, stomach, gallbladder, gallbladder-with-stone, lymph-node, colon, omentum, lesser-omentum, "
              "retroperitoneum, diaphragm, superellipsoid or supertoroid")
      .required();
  making.option("--faces", command->faces, "Number of faces").within(4, kMostFaces).shown();
  making.option("--size", command->size, "Superquadric: half sizes X,Y,Z in mm").with_commas(3).within(0, 1e6).shown();
  making.option("--exponents", command->exponents, "Superquadric: E1 of the profile, E2 of the outline, 0.1 to 4")
      .with_commas(2)
      .within(0, 100)
      .shown();
  making.option("--hole", command->hole, "Supertoroid: half size of the hole along X in mm").within(0, 1e6).shown();
  making.option("-o,--out", command->out, "Mesh to write").required();
  add_force_option(making, command->force);
  making.runs([command] { make(*command); });

  Command& decimating =
      add_mesh_file_command(mesh, "decimate", "Reduce the number of faces and report the error", *command);
  decimating.option("--faces", command->faces, "Target number of faces").within(4, kMostFaces).required();
  decimating.option("-o,--out", command->out, "Mesh to write").required();
  add_force_option(decimating, command->force);
  decimating.runs([command] { decimate_file(*command); });

  Command& repairing = add_mesh_file_command(
      mesh, "repair", "Make a surface closed, consistently oriented and free of bad faces, or say why it cannot be",
      *command);
  repairing.option("--join", command->join, "Join open edges that are closer than this, mm").within(0, 1e3).shown();
  repairing.option("--holes", command->longest_boundary, "Close holes whose boundary is at most this long, mm")
      .within(0, 1e6)
      .shown();
  repairing.option("-o,--out", command->out, "Mesh to write").required();
  add_force_option(repairing, command->force);
  repairing.runs([command] { repair_file(*command); });
  add_transform_command(mesh, command);
  add_mesh_parts_command(mesh);
}

}  // namespace trocar
