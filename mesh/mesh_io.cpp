#include "mesh/mesh_io.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "geometry/elementary.hpp"
#include "geometry/error.hpp"
#include "mesh/mesh_io_formats.hpp"
#include "mesh/polygons.hpp"
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

namespace {

// Columns: where the x, y and z axis of the file point in a scene.
glm::dmat3 axes_of(MeshAxes axes) {
  switch (axes) {
    case MeshAxes::Lps:
      return {glm::dvec3(1, 0, 0), glm::dvec3(0, 0, -1), glm::dvec3(0, 1, 0)};
    case MeshAxes::Ras:
      return {glm::dvec3(-1, 0, 0), glm::dvec3(0, 0, 1), glm::dvec3(0, 1, 0)};
    case MeshAxes::Trocar:
      break;
  }
  return glm::dmat3(1.0);
}

// The rotation about a coordinate axis. Whole quarter turns are taken out of the angle, so that they are exact.
glm::dmat3 about(int axis, double degrees) {
  const double rest = std::remainder(degrees, 90.0), angle = glm::radians(rest);
  const double sine = elementary::sin(angle), cosine = elementary::cos(angle);
  const int quarters = static_cast<int>(std::floor((degrees - rest) / 90.0 + 0.5)) & 3;
  const double cosines[] = {cosine, -sine, -cosine, sine}, sines[] = {sine, cosine, -sine, -cosine};
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  glm::dmat3 matrix(1.0);
  matrix[u][u] = matrix[v][v] = cosines[quarters];
  matrix[u][v] = sines[quarters];
  matrix[v][u] = -sines[quarters];
  return matrix;
}

}  // namespace

std::string_view name_of(MeshAxes axes) {
  return axes == MeshAxes::Lps ? "LPS" : axes == MeshAxes::Ras ? "RAS" : "trocar";
}

glm::dmat3 rotation_of(const MeshPlacement& placement) {
  const glm::dvec3& turn = placement.rotate_deg;
  return about(2, turn.z) * about(1, turn.y) * about(0, turn.x) * axes_of(placement.axes);
}

LoadedMesh load_placed(const std::filesystem::path& file, const MeshPlacement& placement, const std::string& part) {
  // Without a turn the positions are not multiplied, so that they keep their bits, signs of zeros included.
  const bool turned = placement.axes != MeshAxes::Trocar || placement.rotate_deg != glm::dvec3(0.0);
  std::optional<glm::dmat3> rotation;
  if (turned) rotation = rotation_of(placement);
  LoadedMesh loaded = load_turned(file, placement.mm_per_unit * kMillimetre, rotation, part);
  for (glm::vec3& position : loaded.mesh.positions) position += placement.offset;
  return loaded;
}

}  // namespace trocar

namespace trocar::mesh_io {

// Reads the comments and titles of mesh files: the unit and the axes that some programs write there.

namespace {

struct UnitName {
  std::string_view name;
  double millimetres;
};
constexpr std::array<UnitName, 21> kUnits = {
    {{"mm", 1.0},      {"millimeter", 1.0},  {"millimeters", 1.0},  {"millimetre", 1.0},   {"millimetres", 1.0},
     {"cm", 10.0},     {"centimeter", 10.0}, {"centimeters", 10.0}, {"centimetre", 10.0},  {"centimetres", 10.0},
     {"m", 1e3},       {"meter", 1e3},       {"meters", 1e3},       {"metre", 1e3},        {"metres", 1e3},
     {"inch", 25.4},   {"inches", 25.4},     {"um", 1e-3},          {"micrometers", 1e-3}, {"micrometres", 1e-3},
     {"microns", 1e-3}}};
// Words that may stand between "unit" and its name, as in "1 unit = 1 mm", "Units are in inches".
constexpr std::array<std::string_view, 6> kBetween = {"is", "are", "in", "a", "an", "one"};

// The words of a comment: letters and digits, in lower case.
std::vector<std::string> words_of(std::string_view comment) {
  std::vector<std::string> words(1);
  for (char c : comment) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool part = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (part) words.back() += c;
    if (!part && !words.back().empty()) words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool is_one(std::string_view word) { return word == "1"; }

// Returns the unit that is named right after the word "unit" or "units"; 0 when there is none.
double unit_in(const std::vector<std::string>& words) {
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (words[k] != "unit" && words[k] != "units") continue;
    std::size_t next = k + 1;
    while (next < words.size() &&
           (is_one(words[next]) || std::find(kBetween.begin(), kBetween.end(), words[next]) != kBetween.end()))
      ++next;
    if (next == words.size()) continue;
    for (const UnitName& unit : kUnits)
      if (unit.name == words[next]) return unit.millimetres;
  }
  return 0.0;
}

}  // namespace

void read_comment(std::string_view comment, MeshFacts& facts) {
  const std::vector<std::string> words = words_of(comment.substr(0, 1000));
  if (facts.mm_per_unit == 0.0) facts.mm_per_unit = unit_in(words);
  for (std::size_t k = 0; k + 1 < words.size() && facts.axes.empty(); ++k)
    if (words[k] == "space" && (words[k + 1] == "lps" || words[k + 1] == "ras"))
      facts.axes = words[k + 1] == "lps" ? "LPS" : "RAS";
}

}  // namespace trocar::mesh_io

namespace trocar {

// Writes STL, OBJ, PLY and legacy VTK, and moves a finished file to its final path. Text has 9 significant digits and
// binary numbers are doubles, so that a float in metres is restored exactly. Only binary STL, whose numbers are floats,
// may differ in the last bit.

namespace mesh_io {
namespace {

constexpr char kTitle[] = "Trocar mesh";

void add_text(std::string& out, double value) {
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, 9);
  out.append(digits, end);
}

void add_text(std::string& out, const glm::dvec3& p) {
  for (int axis = 0; axis < 3; ++axis) {
    if (axis > 0) out += ' ';
    add_text(out, p[axis]);
  }
}

// Appends the value's bytes in the given order.
template <class Value>
void add_bytes(std::string& out, Value value, std::endian order) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  if (order != std::endian::native) std::reverse(bytes, bytes + sizeof value);
  out.append(bytes, sizeof value);
}

// Lines of text; `first`: number of the first vertex.
void add_point(std::string& out, const char* before, const glm::dvec3& point) {
  out += before;
  add_text(out, point);
  out += '\n';
}

void add_face(std::string& out, const char* before, const glm::uvec3& face, std::uint64_t first) {
  out += before + std::to_string(face.x + first) + ' ' + std::to_string(face.y + first) + ' ' +
         std::to_string(face.z + first) + '\n';
}

void add_points(std::string& out, const FileMesh& mesh, bool ascii, std::endian order) {
  for (const glm::dvec3& point : mesh.points) {
    if (ascii)
      add_point(out, "", point);
    else
      for (int axis = 0; axis < 3; ++axis) add_bytes(out, point[axis], order);
  }
}

glm::dvec3 normal_of(const FileMesh& mesh, const glm::uvec3& face) {
  const glm::dvec3 a = mesh.points[face.x];
  const glm::dvec3 normal = glm::cross(mesh.points[face.y] - a, mesh.points[face.z] - a);
  const double length = glm::length(normal);
  return length > 0.0 ? normal / length : glm::dvec3(0.0);
}

std::string ascii_stl(const FileMesh& mesh) {
  std::string out = std::string("solid ") + kTitle + "\n";
  for (const glm::uvec3& face : mesh.faces) {
    add_point(out, "facet normal ", normal_of(mesh, face));
    out += " outer loop\n";
    for (int corner = 0; corner < 3; ++corner) add_point(out, "  vertex ", mesh.points[face[corner]]);
    out += " endloop\nendfacet\n";
  }
  return out + "endsolid " + kTitle + "\n";
}

std::string binary_stl(const FileMesh& mesh) {
  std::string out = kTitle;
  out.resize(80, '\0');
  add_bytes(out, static_cast<std::uint32_t>(mesh.faces.size()), std::endian::little);
  const auto add = [&out](const glm::dvec3& p) {
    for (int axis = 0; axis < 3; ++axis) add_bytes(out, static_cast<float>(p[axis]), std::endian::little);
  };
  for (const glm::uvec3& face : mesh.faces) {
    add(normal_of(mesh, face));
    for (int corner = 0; corner < 3; ++corner) add(mesh.points[face[corner]]);
    out.append(2, '\0');
  }
  return out;
}

}  // namespace

std::string write_stl(const FileMesh& mesh, MeshEncoding encoding) {
  return encoding == MeshEncoding::Ascii ? ascii_stl(mesh) : binary_stl(mesh);
}

std::string write_obj(const FileMesh& mesh, MeshEncoding) {
  std::string out = std::string("# ") + kTitle + "\n";
  for (const glm::dvec3& point : mesh.points) add_point(out, "v ", point);
  for (const glm::uvec3& face : mesh.faces) add_face(out, "f ", face, 1);
  return out;
}

std::string write_ply(const FileMesh& mesh, MeshEncoding encoding) {
  const bool ascii = encoding == MeshEncoding::Ascii;
  const bool big = encoding == MeshEncoding::BinaryBigEndian;
  std::string out = std::string("ply\nformat ") +
                    (ascii ? "ascii"
                     : big ? "binary_big_endian"
                           : "binary_little_endian") +
                    " 1.0\ncomment " + kTitle + "\nelement vertex " + std::to_string(mesh.points.size()) +
                    "\nproperty double x\nproperty double y\nproperty double z\nelement face " +
                    std::to_string(mesh.faces.size()) + "\nproperty list uchar uint vertex_indices\nend_header\n";
  const std::endian order = big ? std::endian::big : std::endian::little;
  add_points(out, mesh, ascii, order);
  for (const glm::uvec3& face : mesh.faces) {
    if (ascii) {
      add_face(out, "3 ", face, 0);
      continue;
    }
    out += '\3';
    for (int corner = 0; corner < 3; ++corner) add_bytes(out, face[corner], order);
  }
  return out;
}

std::string write_vtk(const FileMesh& mesh, MeshEncoding encoding) {
  const bool ascii = encoding == MeshEncoding::Ascii;
  std::string out = std::string("# vtk DataFile Version 3.0\n") + kTitle + (ascii ? "\nASCII" : "\nBINARY") +
                    "\nDATASET POLYDATA\nPOINTS " + std::to_string(mesh.points.size()) + " double\n";
  add_points(out, mesh, ascii, std::endian::big);
  out += "\nPOLYGONS " + std::to_string(mesh.faces.size()) + ' ' + std::to_string(4 * mesh.faces.size()) + '\n';
  for (const glm::uvec3& face : mesh.faces) {
    if (ascii) {
      add_face(out, "3 ", face, 0);
      continue;
    }
    add_bytes(out, std::int32_t{3}, std::endian::big);
    for (int corner = 0; corner < 3; ++corner) {
      add_bytes(out, static_cast<std::int32_t>(face[corner]), std::endian::big);
    }
  }
  return out + (ascii ? "" : "\n");
}

void commit_file(const std::filesystem::path& file, const std::string& bytes) {
  WholeFile out(file);
  out.stream().write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.commit();
}

}  // namespace mesh_io

}  // namespace trocar

namespace trocar::mesh_io {

// Reads Wavefront OBJ: vertices and polygons. Texture and normal references are ignored, so they never split a vertex.

namespace {

// Statements of the format without polygons.
constexpr std::array<std::string_view, 40> kIgnored = {
    "vt",        "vn",    "vp",    "cstype",   "deg",      "bmat",   "step",   "curv",   "curv2",  "surf",
    "parm",      "trim",  "hole",  "scrv",     "sp",       "end",    "con",    "p",      "l",      "g",
    "s",         "mg",    "o",     "bevel",    "lod",      "usemtl", "mtllib", "usemap", "maplib", "shadow_obj",
    "trace_obj", "ctech", "stech", "c_interp", "d_interp", "call",   "csh",    "bzp",    "bsp",    "res"};

// Other programs add statements of their own, in words of three letters or more, such as "newmtl". Anything else may be
// a damaged 'v' or 'f'.
bool is_foreign(std::string_view keyword) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  return keyword.size() >= 3 && std::all_of(keyword.begin(), keyword.end(), is_letter);
}

class ObjReader {
 public:
  explicit ObjReader(const Source& source) : source_(source), lines_(source.bytes) {}

  FileMesh read() {
    for (std::string_view rest; next_statement(rest);) {
      const std::string_view keyword = take_word(rest);
      if (keyword.empty()) continue;
      if (keyword.front() == '#') {
        read_comment({keyword.data(), static_cast<std::size_t>(rest.data() + rest.size() - keyword.data())},
                     mesh_.facts);
        continue;
      }
      if (keyword == "v") {
        read_vertex(rest);
      } else if (keyword == "f" || keyword == "fo") {
        read_face(rest);
      } else if (std::find(kIgnored.begin(), kIgnored.end(), keyword) == kIgnored.end() && !is_foreign(keyword)) {
        fail(source_, line_, in_quotes(keyword) + " is not an OBJ statement",
             "repair the line or export the mesh again");
      }
    }
    check_forward_references();
    polygons_.split(mesh_);
    return std::move(mesh_);
  }

 private:
  // Reads a line, joined with those that continue it after a backslash. Returns false at the end.
  bool next_statement(std::string_view& rest) {
    if (!lines_.next(rest)) return false;
    line_ = lines_.number();
    if (rest.empty() || rest.back() != '\\') return true;
    joined_.clear();
    for (;;) {
      const bool continued = !rest.empty() && rest.back() == '\\';
      joined_ += continued ? rest.substr(0, rest.size() - 1) : rest;
      joined_ += ' ';
      if (!continued || !lines_.next(rest)) break;
    }
    rest = joined_;
    return true;
  }

  // Numbers after the third are a weight or a colour.
  void read_vertex(std::string_view rest) {
    glm::dvec3 point;
    for (int axis = 0; axis < 3; ++axis) point[axis] = coordinate(source_, line_, take_word(rest));
    mesh_.points.push_back(point);
  }

  void read_face(std::string_view rest) {
    corners_.clear();
    for (std::string_view word = take_word(rest); !word.empty() && word.front() != '#'; word = take_word(rest)) {
      corners_.push_back(corner(word));
    }
    if (corners_.size() < 3) {
      fail(source_, line_, "a face has " + std::to_string(corners_.size()) + " corners but needs 3",
           "repair or delete the line");
    }
    polygons_.add(corners_, mesh_.faces);
  }

  // "7", "7/1", "7//2", "7/1/2"; negative numbers count back from the newest vertex.
  std::uint32_t corner(std::string_view word) {
    const std::string_view vertex = word.substr(0, word.find('/'));
    const std::string_view others = word.substr(vertex.size());
    if (others.find_first_not_of("/-0123456789") != others.npos) {
      fail(source_, line_, "a face has the corner " + in_quotes(word), "write it as v, v/vt, v//vn or v/vt/vn");
    }
    const std::int64_t index = integer(source_, line_, vertex, "a vertex number of a face");
    const std::int64_t count = static_cast<std::int64_t>(mesh_.points.size());
    const bool usable = index > 0 ? index < std::numeric_limits<std::uint32_t>::max() : index < 0 && -index <= count;
    if (!usable) refuse_index(line_, index, mesh_.points.size());
    if (index < 0) return static_cast<std::uint32_t>(count + index);
    if (index > count && index > farthest_) {
      farthest_ = index;
      farthest_line_ = line_;
    }
    return static_cast<std::uint32_t>(index - 1);
  }

  // A face may use a vertex that is defined later in the file.
  void check_forward_references() {
    if (farthest_ > static_cast<std::int64_t>(mesh_.points.size())) {
      refuse_index(farthest_line_, farthest_, mesh_.points.size());
    }
  }

  [[noreturn]] void refuse_index(std::size_t line, std::int64_t index, std::size_t count) {
    fail(source_, line, "a face uses vertex " + std::to_string(index) + ", the file has " + std::to_string(count),
         index == 0 ? "OBJ counts vertices from 1, export the mesh again" : "export the mesh again");
  }

  const Source& source_;
  Lines lines_;
  std::size_t line_ = 0;
  std::string joined_;
  std::vector<std::uint32_t> corners_;
  std::int64_t farthest_ = 0;
  std::size_t farthest_line_ = 0;
  Polygons polygons_;
  FileMesh mesh_;
};

}  // namespace

FileMesh read_obj(const Source& source) { return ObjReader(source).read(); }

// Reads STL, ascii and binary. Each facet has its own three corners; they are welded by exact position.

namespace {

constexpr std::size_t kHeaderBytes = 84;  // 80 bytes of free text, 4 of facet count
constexpr std::size_t kFacetBytes = 50;   // normal and three corners in float, 2 of attributes

static_assert(std::endian::native == std::endian::little, "the binary STL reader needs a little-endian machine");

FileMesh welded(const std::vector<glm::dvec3>& corners) {
  const Weld welding = weld(std::span<const glm::dvec3>(corners));
  FileMesh mesh;
  mesh.points.reserve(welding.point_of.size());
  for (std::uint32_t point : welding.point_of) mesh.points.push_back(corners[point]);
  mesh.faces.reserve(corners.size() / 3);
  for (std::size_t i = 0; i + 2 < corners.size(); i += 3) {
    mesh.faces.emplace_back(welding.vertex_of[i], welding.vertex_of[i + 1], welding.vertex_of[i + 2]);
  }
  return mesh;
}

std::uint64_t facet_count(std::string_view bytes) {
  std::uint32_t count = 0;
  std::memcpy(&count, bytes.data() + 80, sizeof count);
  return count;
}

bool is_binary(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes) return false;
  if (kHeaderBytes + kFacetBytes * facet_count(bytes) == bytes.size()) return true;
  // A binary file of the wrong length may start with "solid", but its count or first facet contains a zero byte.
  return bytes.substr(0, kHeaderBytes + kFacetBytes).find('\0') != std::string_view::npos;
}

FileMesh read_binary(const Source& source) {
  const std::uint64_t count = facet_count(source.bytes);
  const std::uint64_t expected = kHeaderBytes + kFacetBytes * count, size = source.bytes.size();
  // Some programs add padding or data of their own.
  if (size < expected || (count == 0 && size > expected)) {
    fail(source,
         "the header says " + std::to_string(count) + " facets, which is " + std::to_string(expected) +
             " bytes, but the file has " + std::to_string(size),
         "the file is incomplete or damaged, copy or export it again");
  }
  std::vector<glm::dvec3> corners;
  corners.reserve(3 * count);
  for (std::uint64_t facet = 0; facet < count; ++facet) {
    float values[12];
    std::memcpy(values, source.bytes.data() + kHeaderBytes + kFacetBytes * facet, sizeof values);
    for (int corner = 1; corner < 4; ++corner) {
      const float* v = values + 3 * corner;
      for (int axis = 0; axis < 3; ++axis) check_coordinate(source, v[axis], corners.size());
      corners.emplace_back(v[0], v[1], v[2]);
    }
  }
  FileMesh mesh = welded(corners);
  read_comment(source.bytes.substr(0, kHeaderBytes - 4), mesh.facts);
  if (size > expected)
    mesh.facts.notes.push_back(std::to_string(size - expected) + (size - expected == 1 ? " byte" : " bytes") +
                               " after the last of " + std::to_string(count) + " facets are ignored");
  return mesh;
}

// Reads the ascii grammar: solid NAME { facet normal N outer loop { vertex V } x 3 endloop endfacet } endsolid NAME.
class AsciiReader {
 public:
  explicit AsciiReader(const Source& source) : source_(source), words_(source.bytes) {}

  FileMesh read() {
    for (std::string_view word = words_.next(); !word.empty(); word = words_.next()) {
      if (!equal_ignoring_case(word, "solid")) unexpected(word, "solid");
      read_comment(words_.rest_of_line(), facts_);
      read_solid();
    }
    FileMesh mesh = welded(corners_);
    mesh.facts = std::move(facts_);
    return mesh;
  }

 private:
  void read_solid() {
    for (;;) {
      const std::string_view word = words_.next();
      if (equal_ignoring_case(word, "facet")) {
        read_facet();
      } else if (equal_ignoring_case(word, "endsolid")) {
        words_.rest_of_line();
        return;
      } else {
        unexpected(word, "facet or endsolid");
      }
    }
  }

  // The normal is not used: some programs write arbitrary values, including "nan".
  void read_facet() {
    expect("normal");
    for (int axis = 0; axis < 3; ++axis) {
      if (words_.next().empty()) unexpected("", "a normal");
    }
    expect("outer");
    expect("loop");
    for (int corner = 0; corner < 3; ++corner) {
      expect("vertex");
      glm::dvec3 point;
      for (int axis = 0; axis < 3; ++axis) {
        const std::string_view word = words_.next();
        if (word.empty()) unexpected("", "a coordinate");
        point[axis] = coordinate(source_, words_.line(), word);
      }
      corners_.push_back(point);
    }
    expect("endloop");
    expect("endfacet");
  }

  void expect(const char* keyword) {
    const std::string_view word = words_.next();
    if (!equal_ignoring_case(word, keyword)) unexpected(word, keyword);
  }

  [[noreturn]] void unexpected(std::string_view word, const char* wanted) {
    if (word.empty()) {
      fail(source_, words_.line(), std::string("the file ends where '") + wanted + "' is expected",
           "the file is incomplete, copy or export it again");
    }
    fail(source_, words_.line(), std::string("expected '") + wanted + "', found " + in_quotes(word),
         "this is not a triangle STL, export the mesh again");
  }

  const Source& source_;
  Words words_;
  std::vector<glm::dvec3> corners_;
  MeshFacts facts_;
};

}  // namespace

FileMesh read_stl(const Source& source) {
  if (is_binary(source.bytes)) return read_binary(source);
  std::string_view start = source.bytes;
  if (!equal_ignoring_case(take_word(start), "solid")) {
    fail(source, "neither a binary STL (shorter than the header) nor an ascii STL (does not start with 'solid')",
         "check that it is a complete STL file");
  }
  return AsciiReader(source).read();
}

}  // namespace trocar::mesh_io
