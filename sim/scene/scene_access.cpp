#include "sim/scene/scene_access.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "deform/solid/lattice.hpp"
#include "geometry/error.hpp"
#include "mesh/mesh_report.hpp"

namespace trocar {
namespace {

namespace fs = std::filesystem;

bool is_this_machine(std::string host) {
  std::transform(host.begin(), host.end(), host.begin(), [](unsigned char c) { return std::tolower(c); });
  if (host == "localhost" || host == "::1" || host == "[::1]") return true;
  in_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24) == 127;
}

}  // namespace

std::vector<NamedFile> files_of(const Scene& scene) {
  std::vector<NamedFile> files = {{"the scene", scene.file}};
  for (const OrganScene& organ : scene.organs)
    if (has_mesh_file(organ)) files.push_back({fmt::format("the mesh of organ {}", organ.name), organ.mesh});
  for (const OrganScene& organ : scene.organs)
    if (!organ.material.empty()) files.push_back({fmt::format("the material of organ {}", organ.name), organ.material});
  for (const InstrumentScene& instrument : scene.instruments)
    if (!instrument.trajectory.empty())
      files.push_back({fmt::format("the trajectory of instrument {}", instrument.name), instrument.trajectory});
  if (scene.task)
    for (const TaskStep& step : scene.task->steps)
      if (!step.picture.empty())
        files.push_back({fmt::format("the picture of the step {}", printable(step.title)), step.picture});
  if (scene.scope.device == "trajectory" && !scene.scope.source.empty())
    files.push_back({"the source of the scope", folder_of_scope(scene) / scene.scope.source});
  return files;
}

fs::path file_of_scene(const fs::path& scene, const std::string& name) {
  const fs::path beside = scene.parent_path() / name;
  std::error_code error;
  if (fs::path(name).is_absolute() || !fs::is_symlink(scene, error) || fs::exists(beside, error)) return beside;
  const fs::path target = fs::canonical(scene, error);
  const fs::path beside_target = target.parent_path() / name;
  return !error && fs::exists(beside_target, error) ? beside_target : beside;
}

fs::path folder_of_scope(const Scene& scene) {
  const fs::path own = scene.file.parent_path();
  if (file_of_scene(scene.file, scene.scope.source) == own / scene.scope.source) return own;
  std::error_code error;
  return fs::canonical(scene.file, error).parent_path();
}

void refuse_outside_files(const Scene& scene, const SceneAccess& access) {
  if (access.outside) return;
  std::error_code error;
  const fs::path file = fs::absolute(scene.file), own = fs::weakly_canonical(file.parent_path(), error),
                 target = fs::weakly_canonical(file, error).parent_path();
  for (const NamedFile& named : files_of(scene)) {
    if (named.file == scene.file || in_data_folder(named.file)) continue;
    const fs::path real = fs::weakly_canonical(fs::absolute(named.file), error);
    if (!error && (is_below(real, own) || is_below(real, target))) continue;
    const bool linked = fs::is_symlink(named.file, error);
    throw InputError(fmt::format(
        "{}: {} is {}{}, outside the folder of the scene and Trocar's data; move it there, or allow it with "
        "--allow-outside",
        scene.file.string(), named.option, printable(named.file.string(), kLongestText),
        linked ? " -> " + printable(real.string(), kLongestText) : ""));
  }
}

std::vector<std::string> hosts_to_allow(const Scene& scene, const SceneAccess& access) {
  std::vector<std::string> hosts;
  const auto add = [&](const std::string& device, const std::string& source) {
    if (device != "igtl") return;
    const std::string host = parse_igtl_source(source).host;
    const auto listed = [&](const std::vector<std::string>& list) {
      return std::ranges::find(list, host) != list.end();
    };
    if (!is_this_machine(host) && !listed(access.hosts) && !listed(hosts)) hosts.push_back(host);
  };
  for (const InstrumentScene& instrument : scene.instruments) add(instrument.device, instrument.source);
  add(scene.scope.device, scene.scope.source);
  return hosts;
}

IgtlSource parse_igtl_source(const std::string& text) {
  IgtlSource source;
  const auto slash = text.find('/');
  if (slash != std::string::npos) source.tool = text.substr(slash + 1);
  const std::string address = text.substr(0, slash);
  const auto colon = address.rfind(':');
  if (const std::string host = address.substr(0, colon); !host.empty()) source.host = host;
  if (colon == std::string::npos) return source;
  const char *begin = address.data() + colon + 1, *end = address.data() + address.size();
  const auto [stop, error] = std::from_chars(begin, end, source.port);
  if (error != std::errc{} || stop != end || source.port < 1 || source.port > 65535)
    throw InputError(
        fmt::format("source = \"{}\" has no valid port; write it as \"localhost:18944/Probe\"", printable(text)));
  return source;
}

namespace {

LoadedMesh loaded(const OrganScene& organ) {
  return load_placed(organ.mesh, {organ.mm_per_unit, organ.axes, organ.rotate_deg, organ.offset}, organ.part);
}

// A wrong unit is named where no lattice fits; a small organ with a fine lattice may be meant.
std::string unit_fault(const OrganScene& organ, const LoadedMesh& loaded, double longest_side) {
  if (lattice_fault(loaded.mesh.view(), organ.tissue.node_spacing).empty()) return "";
  return size_fault(longest_side, organ.mm_per_unit, loaded.facts, "mm_per_unit =");
}

}  // namespace

TriangleMesh surface_of(const OrganScene& organ) {
  if (organ.surface) return *organ.surface;
  if (organ.tube) return tube_surface(*organ.tube);
  if (organ.fat) return fat_surface(*organ.fat);
  if (organ.rigid) return rigid_surface(*organ.rigid);
  if (organ.sheet) return slab_surface(patch_of(organ), sheet_params_of(organ));
  return loaded(organ).mesh;
}

TriangleMesh surface_of(const BackdropScene& backdrop) {
  TriangleMesh mesh = load_mesh(data_file(fmt::format("organs/{}.obj", name_of(backdrop.shape))));
  for (glm::vec3& position : mesh.positions) position += backdrop.offset;
  return mesh;
}

TriangleMesh solid_surface_of(const OrganScene& organ) {
  if (organ.surface || organ.tube || organ.fat || organ.sheet || organ.rigid) return surface_of(organ);
  LoadedMesh file = loaded(organ);
  const MeshReport report = mesh_report(file.mesh.view());
  std::string fault = unit_fault(organ, file, report.longest_side());
  if (fault.empty()) fault = report.fault;
  if (!fault.empty()) throw InputError(fmt::format("organ {} ({}): {}", organ.name, origin_of(organ), fault));
  return std::move(file.mesh);
}

std::string origin_of(const OrganScene& organ) {
  if (organ.fat) return fmt::format("fat of {:g} mm", organ.fat->thickness * 1e3);
  if (organ.rigid) return fmt::format("rigid {}", name_of(organ.rigid->form));
  if (organ.tube) return fmt::format("tube of radius {:g} mm", organ.tube->radius * 1e3);
  if (!has_mesh_file(organ)) return fmt::format("sheet of {:g} mm", organ.sheet->thickness * 1e3);
  return organ.mesh.string();
}

SheetPatch patch_of(const OrganScene& organ) {
  if (!organ.sheet->corners.empty()) return sheet_patch(*organ.sheet);
  SheetPatch patch = sheet_patch(loaded(organ).mesh);
  if (patch.points.size() > kMostSheetNodes)
    throw InputError(fmt::format("organ {} ({}): a sheet of {} nodes, but it may have {}; decimate the mesh",
                                 organ.name, origin_of(organ), patch.points.size(), kMostSheetNodes));
  return patch;
}

SheetParams sheet_params_of(const OrganScene& organ) {
  const SheetShape& sheet = *organ.sheet;
  const TissueParams& tissue = organ.tissue;
  return {.thickness = sheet.thickness,
          .youngs_modulus = static_cast<double>(tissue.youngs_modulus),
          .poisson = static_cast<double>(tissue.poisson_ratio),
          .density = static_cast<double>(tissue.density),
          .bending = sheet.bending,
          .damping_time = static_cast<double>(tissue.damping_time),
          .drag = static_cast<double>(tissue.drag),
          .strength = sheet.strength,
          .toughness = sheet.toughness,
          .cut_toughness = sheet.cut_toughness};
}

}  // namespace trocar
