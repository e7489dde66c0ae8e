#include "app/commands/mesh_parts.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "app/commands/options.hpp"
#include "geometry/error.hpp"
#include "geometry/printable.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/mesh_report.hpp"
#include "sim/support/files.hpp"

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

}  // namespace

void add_mesh_parts_command(CLI::App& mesh) {
  auto command = std::make_shared<PartsCommand>();
  CLI::App* sub = mesh.add_subcommand("parts", "List the parts of a glTF file; with -o write each as an .obj");
  sub->add_option("file", command->file, "Mesh, with parts: .glb or .gltf")->required();
  sub->add_option("--scale", command->scale, "Millimetres per unit of the file; glTF's metres count as 1000")
      ->check(within(1e-6, 1e6))
      ->capture_default_str();
  sub->add_option("-o,--out", command->out, "Folder for the parts");
  sub->callback([command] { list_parts(*command); });
}

}  // namespace trocar
