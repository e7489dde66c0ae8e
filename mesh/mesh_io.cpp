#include "mesh/mesh_io.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "geometry/error.hpp"
#include "mesh/mesh_io_formats.hpp"
#include "mesh/whole_file.hpp"

namespace trocar {
namespace mesh_io {

void add_fan(std::span<const std::uint32_t> corners, std::vector<glm::uvec3>& faces) {
  for (std::size_t i = 2; i < corners.size(); ++i) faces.emplace_back(corners[0], corners[i - 1], corners[i]);
}

void add_strip(std::span<const std::uint32_t> corners, std::vector<glm::uvec3>& faces) {
  for (std::size_t i = 2; i < corners.size(); ++i) {
    const bool turned = i % 2 == 1;
    faces.emplace_back(corners[i - 2], corners[i - (turned ? 0 : 1)], corners[i - (turned ? 1 : 0)]);
  }
}

std::vector<Format>& formats() {
  static std::vector<Format> list = {{".stl", read_stl, write_stl},
                                     {".obj", read_obj, write_obj},
                                     {".ply", read_ply, write_ply},
                                     {".vtk", read_vtk, write_vtk},
                                     {".glb", read_gltf, write_glb, read_gltf_parts},
                                     {".gltf", read_gltf, nullptr, read_gltf_parts}};
  return list;
}

}  // namespace mesh_io

namespace {

using mesh_io::FileMesh;
using mesh_io::Source;

constexpr FileKind kMeshFile{"mesh", std::uint64_t{4} << 30};  // about 60 million faces of binary STL
constexpr std::size_t kListed = 100;                           // characters of the names that an error lists
constexpr double kFarthest = 1000.0;  // m; a larger coordinate means a wrong unit or a damaged number

std::string lower_extension(const std::filesystem::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return extension;
}

const mesh_io::Format& format_of(const std::filesystem::path& file) {
  const std::string extension = lower_extension(file);
  for (const mesh_io::Format& format : mesh_io::formats()) {
    if (extension == format.extension) return format;
  }
  throw InputError(file.string() + ": the extension " + mesh_io::in_quotes(extension) +
                   " is not a mesh format; use .stl, .obj, .ply, .vtp, .vtk or .glb");
}

std::string read_bytes(const std::filesystem::path& file) {
  std::string bytes = read_whole_file(file, kMeshFile);
  if (bytes.empty()) throw InputError(file.string() + ": the file is empty; copy or export the mesh again");
  return bytes;
}

std::string_view without_byte_order_mark(const std::filesystem::path& file, std::string_view bytes) {
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) {
    throw InputError(file.string() + ": the file is UTF-16 text; save it as UTF-8");
  }
  return bytes.starts_with("\xEF\xBB\xBF") ? bytes.substr(3) : bytes;
}

using Rotation = std::optional<glm::dmat3>;

TriangleMesh in_metres(const FileMesh& raw, double metres_per_unit, const Rotation& rotation = {}) {
  TriangleMesh mesh;
  mesh.positions.reserve(raw.points.size());
  for (const glm::dvec3& point : raw.points)
    mesh.positions.emplace_back(rotation ? *rotation * (point * metres_per_unit) : point * metres_per_unit);
  mesh.faces = raw.faces;
  return mesh;
}

FileMesh in_file_units(const TriangleMesh& mesh, double metres_per_unit) {
  FileMesh raw;
  raw.points.reserve(mesh.positions.size());
  for (const glm::vec3& position : mesh.positions) raw.points.push_back(glm::dvec3(position) / metres_per_unit);
  raw.faces = mesh.faces;
  return raw;
}

void check_unit(const std::filesystem::path& file, double metres_per_unit) {
  if (metres_per_unit > 0.0 && std::isfinite(metres_per_unit)) return;
  throw InputError(file.string() + ": the unit must be a positive number of metres; use 0.001 for millimetres");
}

void append(TriangleMesh& mesh, const TriangleMesh& more) {
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  mesh.positions.insert(mesh.positions.end(), more.positions.begin(), more.positions.end());
  for (const glm::uvec3& face : more.faces) mesh.faces.push_back(face + first);
}

Source source_of(const std::filesystem::path& file, const std::string& bytes, double metres_per_unit) {
  return {file.string(), without_byte_order_mark(file, bytes), kFarthest / metres_per_unit};
}

[[noreturn]] void refuse_without_faces(const Source& source) {
  fail(source, "the file has no faces", "export the mesh as triangles or polygons");
}

std::vector<MeshPart> parts_of(const std::filesystem::path& file, double metres_per_unit, const Rotation& rotation,
                               MeshFacts& facts) {
  check_unit(file, metres_per_unit);
  const mesh_io::Format& format = format_of(file);
  if (format.read_parts == nullptr) {
    LoadedMesh whole = load_turned(file, metres_per_unit, rotation);
    facts = std::move(whole.facts);
    return {{file.stem().string(), std::move(whole.mesh)}};
  }
  const std::string bytes = read_bytes(file);
  const Source source = source_of(file, bytes, metres_per_unit);
  std::vector<MeshPart> parts;
  for (const mesh_io::FilePart& part : format.read_parts(source)) {
    parts.push_back({part.name, in_metres(part.mesh, metres_per_unit, rotation)});
    facts = part.mesh.facts;
  }
  if (parts.empty()) refuse_without_faces(source);
  return parts;
}

LoadedMesh load_part(const std::filesystem::path& file, const std::string& name, double metres_per_unit,
                     const Rotation& rotation) {
  LoadedMesh loaded;
  std::string others;
  for (const MeshPart& part : parts_of(file, metres_per_unit, rotation, loaded.facts)) {
    if (part.name == name) append(loaded.mesh, part.mesh);
    if (others.size() < kListed) others += (others.empty() ? "" : ", ") + mesh_io::in_quotes(part.name);
  }
  if (loaded.mesh.faces.empty())
    throw InputError(file.string() + ": there is no part " + mesh_io::in_quotes(name) + "; it has " + others +
                     (others.size() < kListed ? "" : " ..."));
  return loaded;
}

}  // namespace

std::vector<MeshPart> load_mesh_parts(const std::filesystem::path& file, double metres_per_unit) {
  MeshFacts facts;
  return parts_of(file, metres_per_unit, {}, facts);
}

TriangleMesh load_mesh_part(const std::filesystem::path& file, const std::string& name, double metres_per_unit) {
  return load_part(file, name, metres_per_unit, {}).mesh;
}

LoadedMesh load_turned(const std::filesystem::path& file, double metres_per_unit, const Rotation& rotation,
                       const std::string& part) {
  check_unit(file, metres_per_unit);
  if (!part.empty()) return load_part(file, part, metres_per_unit, rotation);
  const mesh_io::Format& format = format_of(file);
  const std::string bytes = read_bytes(file);
  const Source source = source_of(file, bytes, metres_per_unit);
  FileMesh raw = format.read(source);
  if (raw.faces.empty()) refuse_without_faces(source);
  return {in_metres(raw, metres_per_unit, rotation), std::move(raw.facts)};
}

TriangleMesh load_mesh(const std::filesystem::path& file, double metres_per_unit) {
  return load_turned(file, metres_per_unit).mesh;
}

void save_mesh(const TriangleMesh& mesh, const std::filesystem::path& file, double metres_per_unit) {
  save_mesh_as(mesh, file, MeshEncoding::Binary, metres_per_unit);
}

void save_mesh_as(const TriangleMesh& mesh, const std::filesystem::path& file, MeshEncoding encoding,
                  double metres_per_unit) {
  check_unit(file, metres_per_unit);
  const mesh_io::Format& format = format_of(file);
  if (format.write == nullptr) throw InputError(file.string() + ": this format is only read; save the mesh as .glb");
  if (mesh.faces.empty())
    throw InputError(file.string() + ": the mesh to save has no faces; save a mesh that has faces");
  mesh_io::commit_file(file, format.write(in_file_units(mesh, metres_per_unit), encoding));
}

}  // namespace trocar
