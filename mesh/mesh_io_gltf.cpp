// Reads glTF 2.0 (.glb, and .gltf with its data inside): the triangles of every node of the scene, in the scene's
// coordinates. Writes .glb. The format's unit is the metre; here, as in all readers, a file unit is a millimetre.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <glm/glm.hpp>
#include <glm/gtc/quaternion.hpp>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "geometry/error.hpp"
#include "geometry/units.hpp"
#include "mesh/base64.hpp"
#include "mesh/mesh_io_formats.hpp"
#include "mesh/mesh_io_text.hpp"

namespace trocar::mesh_io {
namespace {

// Opens a glTF 2.0 file (Khronos) and reads the numbers of its accessors. Every index, length and type is checked
// before use.

// A value of the file's JSON and its path, for messages: "meshes[2].primitives[0].mode". A missing value has no
// members and no elements. Its functions throw InputError.
class GltfValue {
 public:
  GltfValue(const Source& source, const nlohmann::json* value, std::string path)
      : source_(&source), value_(value), path_(std::move(path)) {}

  bool present() const { return value_ != nullptr; }
  GltfValue at(const char* key) const;    // a member of an object
  GltfValue at(std::size_t index) const;  // an element of an array; refuses an index beyond its end
  std::size_t size() const;               // of an array
  std::uint64_t whole() const;            // a whole number, 0 or more
  std::uint64_t whole_or(std::uint64_t otherwise) const;
  double number() const;
  bool truth() const;        // false when missing
  std::string text() const;  // empty when missing
  [[noreturn]] void refuse(const std::string& what, const std::string& remedy = "export the file again") const;

 private:
  const Source* source_;
  const nlohmann::json* value_;
  std::string path_;
};

class GltfFile {
 public:
  // Reads a .glb, or the text of a .gltf whose buffers are inside it. Refuses versions other than 2, required
  // extensions that change geometry in a way that is not read here (compression), and buffers in other files.
  explicit GltfFile(const Source& source);
  ~GltfFile();
  GltfFile(const GltfFile&) = delete;
  GltfFile& operator=(const GltfFile&) = delete;

  GltfValue root() const;
  // Return the element of a list of the file, and refuse an index that it does not have. "nodes", 3
  GltfValue element(const char* list, std::uint64_t index) const;

  std::vector<glm::dvec3> positions(std::uint64_t accessor) const;  // in the units of the accessor
  std::vector<std::uint32_t> indices(std::uint64_t accessor) const;

 private:
  struct Content;
  struct Elements;
  struct Numbers;
  void check_extensions();
  void open_buffers(std::string_view binary, bool text);
  // owner: has the members bufferView and byteOffset
  Elements elements(const GltfValue& owner, NumberType type, std::uint64_t components) const;
  Numbers numbers(const GltfValue& accessor) const;

  const Source& source_;
  std::unique_ptr<Content> content_;
};

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "the glTF reader needs a little-endian machine");

constexpr std::uint32_t kMagic = 0x46546C67, kJsonChunk = 0x4E4F534A, kBinaryChunk = 0x004E4942;
constexpr std::size_t kDeepest = 64;                                // levels of nested JSON
constexpr std::uint64_t kMostDescription = std::uint64_t{1} << 28;  // bytes of JSON without buffers
constexpr std::uint64_t kMostZeros = std::uint64_t{1} << 20;        // elements of an accessor without base data
const char* const kCopy = "the file is incomplete or damaged, copy or export it again";
constexpr std::string_view kBase64 = ";base64,";

std::uint32_t word_at(std::string_view bytes, std::size_t offset) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

struct Chunks {
  std::string_view description, binary;
  bool text = false;  // a .gltf
};

Chunks chunks_of(const Source& source) {
  const std::string_view bytes = source.bytes;
  if (bytes.size() < 4 || word_at(bytes, 0) != kMagic) return {bytes, {}, true};
  if (bytes.size() < 20) fail(source, "the file ends within its header", kCopy);
  if (word_at(bytes, 4) != 2)
    fail(source, "it is glTF version " + std::to_string(word_at(bytes, 4)), "export it as glTF 2.0");
  if (word_at(bytes, 8) > bytes.size())
    fail(source,
         "the header says " + std::to_string(word_at(bytes, 8)) + " bytes, but the file has " +
             std::to_string(bytes.size()),
         kCopy);
  Chunks chunks;
  // Bytes beyond the stated length are padding.
  const std::size_t size = word_at(bytes, 8);
  for (std::size_t at = 12; at < size;) {
    if (size - at < 8 || word_at(bytes, at) > size - at - 8) fail(source, "a chunk is longer than the file", kCopy);
    const std::string_view data = bytes.substr(at + 8, word_at(bytes, at));
    const std::uint32_t kind = word_at(bytes, at + 4);
    if (at == 12 && kind != kJsonChunk) fail(source, "its first chunk is not JSON", kCopy);
    if (at == 12) chunks.description = data;
    if (kind == kBinaryChunk && chunks.binary.empty()) chunks.binary = data;
    at += 8 + data.size();
  }
  return chunks;
}

json parsed(const Source& source, std::string_view text) {
  if (text.size() > kMostDescription && text.size() < source.bytes.size())
    fail(source, "its JSON chunk is larger than 256 MiB", "export the geometry as binary buffers");
  const auto within_depth = [&](int depth, json::parse_event_t, const json&) {
    if (depth > static_cast<int>(kDeepest))
      fail(source, "its JSON is nested more than " + std::to_string(kDeepest) + " levels deep",
           "export the file again");
    return true;
  };
  try {
    json root = json::parse(text.begin(), text.end(), within_depth);
    if (!root.is_object()) fail(source, "its JSON is not an object", "check that it is a glTF file");
    return root;
  } catch (const json::parse_error& error) {
    const std::size_t bad = std::min(error.byte, text.size());
    const std::size_t line = 1 + count_line_ends(text.substr(0, bad));
    fail(source, line, "its JSON is malformed", kCopy);
  } catch (const json::exception&) {
    fail(source, "its JSON has a number out of range", kCopy);
  }
}

bool affects_no_shape(const std::string& extension) {
  for (const char* part : {"materials", "texture", "lights", "xmp", "metadata", "audio", "animation"})
    if (extension.find(part) != std::string::npos) return true;
  return false;
}

struct Component {
  std::uint64_t code;
  NumberType type;
};
constexpr Component kComponents[] = {{5120, {1, 'i'}}, {5121, {1, 'u'}}, {5122, {2, 'i'}},
                                     {5123, {2, 'u'}}, {5125, {4, 'u'}}, {5126, {4, 'f'}}};

NumberType component_type(const GltfValue& code) {
  for (const Component& component : kComponents)
    if (component.code == code.whole()) return component.type;
  code.refuse("is not a number type");
}

double normalized(double value, NumberType type) {
  const double most = static_cast<double>((std::uint64_t{1} << (8 * type.bytes - (type.kind == 'i' ? 1 : 0))) - 1);
  return std::max(value / most, -1.0);
}

// ---- GltfValue ----

void GltfValue::refuse(const std::string& what, const std::string& remedy) const {
  fail(*source_, (path_.empty() ? "the file" : path_) + " " + what, remedy);
}

GltfValue GltfValue::at(const char* key) const {
  const std::string path = path_.empty() ? key : path_ + "." + key;
  if (!present()) return {*source_, nullptr, path};
  if (!value_->is_object()) refuse("is not an object");
  const auto found = value_->find(key);
  return {*source_, found == value_->end() ? nullptr : &*found, path};
}

GltfValue GltfValue::at(std::size_t index) const {
  if (index >= size())
    refuse("has " + std::to_string(size()) + " elements, and the file asks for number " + std::to_string(index));
  return {*source_, &(*value_)[index], path_ + "[" + std::to_string(index) + "]"};
}

std::size_t GltfValue::size() const {
  if (!present()) return 0;
  if (!value_->is_array()) refuse("is not a list");
  return value_->size();
}

std::uint64_t GltfValue::whole() const {
  if (!present()) refuse("is missing");
  if (value_->is_number_unsigned()) return value_->get<std::uint64_t>();
  // Some programs write whole numbers as 12.0, which the format allows.
  const double value = value_->is_number() ? value_->get<double>() : -1.0;
  if (!(value >= 0.0 && value <= 0x1p53 && value == std::floor(value))) refuse("is not a whole number of 0 or more");
  return static_cast<std::uint64_t>(value);
}

std::uint64_t GltfValue::whole_or(std::uint64_t otherwise) const { return present() ? whole() : otherwise; }

double GltfValue::number() const {
  if (!present() || !value_->is_number()) refuse("is not a number");
  return value_->get<double>();
}

bool GltfValue::truth() const {
  if (!present()) return false;
  if (!value_->is_boolean()) refuse("is neither true nor false");
  return value_->get<bool>();
}

std::string GltfValue::text() const {
  if (!present()) return {};
  if (!value_->is_string()) refuse("is not text");
  return value_->get<std::string>();
}

// ---- GltfFile ----

struct GltfFile::Content {
  json root;
  std::vector<std::string> decoded;       // [buffer] of text
  std::vector<std::string_view> buffers;  // [buffer] null: not in this file
  bool quantized = false;                 // positions may be integers (KHR_mesh_quantization)
};

// Elements in a buffer: `components` numbers each, `stride` bytes apart.
struct GltfFile::Elements {
  std::string_view data;
  std::uint64_t stride = 0;
  NumberType type;
  std::uint64_t components = 1;

  std::uint64_t bytes() const { return components * type.bytes; }
  std::uint64_t bits(std::uint64_t element, std::uint64_t component) const {
    return bits_of(data.data() + element * stride + component * type.bytes, type.bytes, false);
  }
  void require(const GltfValue& owner, std::uint64_t count) const {
    if (stride < bytes() || stride > 256) owner.refuse("has elements that overlap or lie too far apart");
    if (count > 0 && (data.size() < bytes() || (data.size() - bytes()) / stride < count - 1))
      owner.refuse("has " + std::to_string(count) + " elements, more than its data", kCopy);
  }
};

// The numbers of one accessor.
struct GltfFile::Numbers {
  NumberType type;
  std::uint64_t components = 1;
  std::vector<double> values;  // [element * components]
};

GltfFile::GltfFile(const Source& source) : source_(source), content_(std::make_unique<Content>()) {
  const Chunks chunks = chunks_of(source);
  content_->root = parsed(source, chunks.description);
  const std::string version = root().at("asset").at("version").text();
  if (!version.starts_with("2."))
    fail(source, version.empty() ? "it names no glTF version" : "it is glTF version " + in_quotes(version),
         "export it as glTF 2.0");
  check_extensions();
  open_buffers(chunks.binary, chunks.text);
}

void GltfFile::check_extensions() {
  const GltfValue needs = root().at("extensionsRequired");
  for (std::size_t k = 0; k < needs.size(); ++k) {
    const std::string name = needs.at(k).text();
    if (name == "KHR_mesh_quantization") {
      content_->quantized = true;
    } else if (!affects_no_shape(name)) {
      fail(source_, "it needs the extension " + in_quotes(name), "export it without, for instance without compression");
    }
  }
}

void GltfFile::open_buffers(std::string_view binary, bool text) {
  const GltfValue buffers = root().at("buffers");
  content_->decoded.resize(buffers.size());
  for (std::size_t k = 0; k < buffers.size(); ++k) {
    const GltfValue buffer = buffers.at(k), uri = buffer.at("uri");
    std::string_view bytes = binary;
    if (uri.present()) {
      const std::string where = uri.text();
      const std::size_t start = where.find(kBase64);
      // Pictures and movements may lie in another file; elements() refuses numbers that do.
      if (!where.starts_with("data:") || start == std::string::npos) {
        content_->buffers.emplace_back();
        continue;
      }
      auto decoded = decoded_base64(std::string_view(where).substr(start + kBase64.size()));
      if (!decoded) uri.refuse("has a character that is not base64", kCopy);
      content_->decoded[k] = std::move(*decoded);
      bytes = content_->decoded[k];
    } else if (k > 0 || text) {
      buffer.refuse("has no data", kCopy);
    }
    const std::uint64_t length = buffer.at("byteLength").whole();
    if (length > bytes.size())
      buffer.refuse("has " + std::to_string(bytes.size()) + " bytes and should have " + std::to_string(length), kCopy);
    content_->buffers.push_back(bytes.substr(0, length));
  }
}

GltfFile::~GltfFile() = default;

GltfValue GltfFile::root() const { return {source_, &content_->root, ""}; }

GltfValue GltfFile::element(const char* list, std::uint64_t index) const { return root().at(list).at(index); }

GltfFile::Elements GltfFile::elements(const GltfValue& owner, NumberType type, std::uint64_t components) const {
  const GltfValue view = element("bufferViews", owner.at("bufferView").whole());
  const std::uint64_t buffer = view.at("buffer").whole(), first = view.at("byteOffset").whole_or(0);
  const std::uint64_t length = view.at("byteLength").whole(), offset = owner.at("byteOffset").whole_or(0);
  const GltfValue uri = element("buffers", buffer).at("uri");
  const std::string_view data = content_->buffers[buffer];
  if (data.data() == nullptr && uri.present())
    uri.refuse("names another file, which is not read", "export the file as .glb, with its buffers inside");
  if (first > data.size() || length > data.size() - first) view.refuse("is longer than its buffer", kCopy);
  if (offset > length) view.refuse("ends before the numbers that it should have", kCopy);
  Elements list{data.substr(first + offset, length - offset), 0, type, components};
  list.stride = view.at("byteStride").whole_or(list.bytes());
  return list;
}

GltfFile::Numbers GltfFile::numbers(const GltfValue& accessor) const {
  const std::string shape = accessor.at("type").text();
  if (shape != "SCALAR" && shape != "VEC3") accessor.refuse("has elements of type " + in_quotes(shape));
  Numbers out{component_type(accessor.at("componentType")), shape == "VEC3" ? 3u : 1u, {}};
  const std::uint64_t count = accessor.at("count").whole();
  const bool scaled = accessor.at("normalized").truth() && out.type.kind != 'f';
  const auto take = [&](const Elements& from, std::uint64_t element, std::uint64_t to) {
    for (std::uint64_t c = 0; c < out.components; ++c) {
      const double value = number_of(from.bits(element, c), out.type);
      out.values[to * out.components + c] = scaled ? normalized(value, out.type) : value;
    }
  };
  const GltfValue sparse = accessor.at("sparse");
  if (accessor.at("bufferView").present()) {
    const Elements base = elements(accessor, out.type, out.components);
    base.require(accessor, count);
    out.values.resize(count * out.components);
    for (std::uint64_t k = 0; k < count; ++k) take(base, k, k);
  } else {
    if (!sparse.present() || count > kMostZeros) accessor.refuse("has no data", kCopy);
    out.values.resize(count * out.components, 0.0);
  }
  if (!sparse.present()) return out;
  const GltfValue where = sparse.at("indices"), what = sparse.at("values");
  const std::uint64_t changed = sparse.at("count").whole();
  const Elements places = elements(where, component_type(where.at("componentType")), 1);
  const Elements replacements = elements(what, out.type, out.components);
  if (places.type.kind != 'u') where.refuse("has numbers that are not whole");
  places.require(where, changed);
  replacements.require(what, changed);
  for (std::uint64_t k = 0; k < changed; ++k) {
    if (places.bits(k, 0) >= count) where.refuse("names an element that the accessor does not have", kCopy);
    take(replacements, k, places.bits(k, 0));
  }
  return out;
}

std::vector<glm::dvec3> GltfFile::positions(std::uint64_t index) const {
  const GltfValue accessor = element("accessors", index);
  const Numbers all = numbers(accessor);
  if (all.components != 3) accessor.refuse("holds positions that have not three coordinates");
  const bool quantized = all.type.bytes <= 2 && content_->quantized;
  if (all.type.kind != 'f' && !quantized)
    accessor.refuse("holds positions that are no floating-point numbers",
                    "export them as such, or with KHR_mesh_quantization");
  std::vector<glm::dvec3> points(all.values.size() / 3);
  for (std::size_t k = 0; k < points.size(); ++k)
    points[k] = {all.values[3 * k], all.values[3 * k + 1], all.values[3 * k + 2]};
  return points;
}

std::vector<std::uint32_t> GltfFile::indices(std::uint64_t index) const {
  const GltfValue accessor = element("accessors", index);
  const Numbers all = numbers(accessor);
  if (all.components != 1 || all.type.kind != 'u') accessor.refuse("holds vertex numbers that are not whole");
  return {all.values.begin(), all.values.end()};
}

// Of all nodes together: many nodes may use the same mesh.
constexpr std::size_t kMostFaces = std::size_t{1} << 26, kMostPoints = std::size_t{1} << 25;
constexpr std::size_t kMostPrimitives = std::size_t{1} << 20;
enum Mode : std::uint64_t { kPoints, kLines, kLineLoop, kLineStrip, kTriangles, kStrip, kFan };

glm::dmat4 transform_of(const GltfValue& node) {
  const auto numbers = [&](const char* key, std::size_t count, std::initializer_list<double> otherwise) {
    const GltfValue list = node.at(key);
    std::vector<double> values(otherwise);
    if (list.present() && list.size() != count) list.refuse("has not " + std::to_string(count) + " numbers");
    for (std::size_t k = 0; k < list.size(); ++k) values[k] = list.at(k).number();
    return values;
  };
  glm::dmat4 matrix(1.0);
  if (node.at("matrix").present()) {
    const auto m = numbers("matrix", 16, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
    for (int k = 0; k < 16; ++k) matrix[k / 4][k % 4] = m[static_cast<std::size_t>(k)];
    if (m[3] != 0.0 || m[7] != 0.0 || m[11] != 0.0 || m[15] != 1.0)
      node.at("matrix").refuse("is not affine: its last row is not 0 0 0 1");
    return matrix;
  }
  const auto move = numbers("translation", 3, {0, 0, 0}), turn = numbers("rotation", 4, {0, 0, 0, 1}),
             size = numbers("scale", 3, {1, 1, 1});
  const glm::dquat rotation(turn[3], turn[0], turn[1], turn[2]);
  if (!(glm::dot(rotation, rotation) > 0.0)) node.at("rotation").refuse("is zero");
  const glm::dmat3 turned = glm::mat3_cast(glm::normalize(rotation));
  for (int k = 0; k < 3; ++k) matrix[k] = glm::dvec4(turned[k] * size[static_cast<std::size_t>(k)], 0.0);
  matrix[3] = {move[0], move[1], move[2], 1.0};
  return matrix;
}

// Collects the parts of the scene: every node with a mesh is one.
class SceneReader {
 public:
  explicit SceneReader(const Source& source) : source_(source), file_(source) {}

  std::vector<FilePart> read() {
    visited_.resize(file_.root().at("nodes").size());
    std::vector<std::pair<std::uint64_t, glm::dmat4>> open;
    const std::vector<std::uint64_t> roots = root_nodes();
    for (auto root = roots.rbegin(); root != roots.rend(); ++root) open.emplace_back(*root, glm::dmat4(1.0));
    while (!open.empty()) {
      const auto [index, above] = open.back();
      open.pop_back();
      const GltfValue node = file_.element("nodes", index);
      if (visited_[index]) node.refuse("is used twice", "export the file again");
      visited_[index] = true;
      const glm::dmat4 to_scene = above * transform_of(node);
      if (node.at("mesh").present()) add_part(node, index, to_scene);
      const GltfValue children = node.at("children");
      for (std::size_t k = children.size(); k-- > 0;) open.emplace_back(children.at(k).whole(), to_scene);
    }
    return std::move(parts_);
  }

 private:
  // The nodes of the scene that the file shows; without scenes, those that no other node contains.
  std::vector<std::uint64_t> root_nodes() const {
    std::vector<std::uint64_t> roots;
    if (file_.root().at("scenes").size() > 0) {
      const GltfValue list = file_.element("scenes", file_.root().at("scene").whole_or(0)).at("nodes");
      for (std::size_t k = 0; k < list.size(); ++k) roots.push_back(list.at(k).whole());
      return roots;
    }
    std::vector<bool> contained(visited_.size());
    for (std::size_t k = 0; k < visited_.size(); ++k) {
      const GltfValue children = file_.element("nodes", k).at("children");
      for (std::size_t c = 0; c < children.size(); ++c) {
        file_.element("nodes", children.at(c).whole());
        contained[children.at(c).whole()] = true;
      }
    }
    for (std::size_t k = 0; k < contained.size(); ++k)
      if (!contained[k]) roots.push_back(k);
    return roots;
  }

  void add_part(const GltfValue& node, std::uint64_t index, const glm::dmat4& to_scene) {
    const GltfValue mesh = file_.element("meshes", node.at("mesh").whole());
    if (node.at("skin").present())
      node.at("skin").refuse("deforms the mesh", "apply the skeleton and export the file again");
    if (node.at("extensions").at("EXT_mesh_gpu_instancing").present())
      node.refuse("has instances", "export a node for each of them");
    refuse_morphed(node.at("weights").present() ? node.at("weights") : mesh.at("weights"));
    FilePart part{node.at("name").text(), {}};
    part.mesh.facts.mm_per_number = kMmPerMetre;
    if (part.name.empty()) part.name = mesh.at("name").text();
    if (part.name.empty()) part.name = "node " + std::to_string(index);
    ranges_.clear();
    const GltfValue primitives = mesh.at("primitives");
    for (std::size_t k = 0; k < primitives.size(); ++k) add_primitive(primitives.at(k), to_scene, part.mesh);
    if (!part.mesh.faces.empty()) parts_.push_back(std::move(part));
  }

  static void refuse_morphed(const GltfValue& weights) {
    for (std::size_t k = 0; k < weights.size(); ++k)
      if (weights.at(k).number() != 0.0)
        weights.refuse("deform the mesh", "apply the shapes and export the file again");
  }

  void add_primitive(const GltfValue& primitive, const glm::dmat4& to_scene, FileMesh& mesh) {
    limit(++primitives_, kMostPrimitives, "primitives");
    const std::uint64_t mode = primitive.at("mode").whole_or(kTriangles);
    if (mode < kTriangles) return;
    if (mode > kFan) primitive.at("mode").refuse("is not a mode of glTF 2.0");
    const PointRange points = add_points(primitive.at("attributes").at("POSITION").whole(), to_scene, mesh);
    const std::vector<std::uint32_t> corners = corners_of(primitive, points);
    if (mode == kTriangles && corners.size() % 3 != 0)
      primitive.refuse("has " + std::to_string(corners.size()) + " corners, which make no triangles");
    limit(faces_ += corners.size() / (mode == kTriangles ? 3 : 1), kMostFaces, "faces");
    const std::size_t before = mesh.faces.size();
    if (mode == kFan) add_fan(corners, mesh.faces);
    if (mode == kStrip) add_strip(corners, mesh.faces);
    if (mode == kTriangles)
      for (std::size_t k = 0; k < corners.size(); k += 3)
        mesh.faces.emplace_back(corners[k], corners[k + 1], corners[k + 2]);
    // A mirrored node has its faces the other way round.
    if (glm::determinant(glm::dmat3(to_scene)) < 0.0)
      for (std::size_t k = before; k < mesh.faces.size(); ++k) std::swap(mesh.faces[k].y, mesh.faces[k].z);
  }

  // Vertices of the part that come from one accessor.
  struct PointRange {
    std::uint32_t first = 0, count = 0;
  };

  // Returns the corners of a primitive, as vertices of the part.
  std::vector<std::uint32_t> corners_of(const GltfValue& primitive, const PointRange& points) const {
    const GltfValue indices = primitive.at("indices");
    std::vector<std::uint32_t> corners(indices.present() ? 0 : points.count);
    std::iota(corners.begin(), corners.end(), 0u);
    if (indices.present()) corners = file_.indices(indices.whole());
    for (std::uint32_t& corner : corners) {
      if (corner >= points.count)
        indices.refuse("use vertex " + std::to_string(corner) + ", and there are " + std::to_string(points.count) +
                       " counted from 0");
      corner += points.first;
    }
    return corners;
  }

  // Primitives of one mesh may share their vertices.
  PointRange add_points(std::uint64_t accessor, const glm::dmat4& to_scene, FileMesh& mesh) {
    const auto [known, is_new] = ranges_.try_emplace(accessor);
    if (!is_new) return known->second;
    const std::vector<glm::dvec3> points = file_.positions(accessor);
    limit(points_ += points.size(), kMostPoints, "vertices");
    known->second = {static_cast<std::uint32_t>(mesh.points.size()), static_cast<std::uint32_t>(points.size())};
    for (const glm::dvec3& point : points) {
      const glm::dvec3 p = kMmPerMetre * glm::dvec3(to_scene * glm::dvec4(point, 1.0));
      for (int axis = 0; axis < 3; ++axis) check_coordinate(source_, p[axis], mesh.points.size());
      mesh.points.push_back(p);
    }
    return known->second;
  }

  void limit(std::size_t count, std::size_t most, const char* what) const {
    if (count > most)
      fail(source_, "its nodes have more than " + std::to_string(most) + " " + what + " together",
           "export fewer nodes");
  }

  const Source& source_;
  GltfFile file_;
  std::vector<bool> visited_;                            // [node]
  std::map<std::uint64_t, PointRange> ranges_;           // of the accessors that the part has used
  std::size_t faces_ = 0, points_ = 0, primitives_ = 0;  // of all parts
  std::vector<FilePart> parts_;
};

template <typename T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_chunk(std::string& file, std::uint32_t kind, std::string data, char padding) {
  data.resize((data.size() + 3) / 4 * 4, padding);
  append(file, static_cast<std::uint32_t>(data.size()));
  append(file, kind);
  file += data;
}

}  // namespace

std::vector<FilePart> read_gltf_parts(const Source& source) { return SceneReader(source).read(); }

FileMesh read_gltf(const Source& source) {
  FileMesh all;
  for (const FilePart& part : read_gltf_parts(source)) {
    const auto first = static_cast<std::uint32_t>(all.points.size());
    all.points.insert(all.points.end(), part.mesh.points.begin(), part.mesh.points.end());
    for (const glm::uvec3& face : part.mesh.faces) all.faces.push_back(face + first);
    all.facts = part.mesh.facts;
  }
  return all;
}

std::string write_glb(const FileMesh& mesh, MeshEncoding) {
  std::string binary;
  glm::vec3 low(std::numeric_limits<float>::max()), high(-low);
  for (const glm::dvec3& point : mesh.points) {
    const glm::vec3 p(point / kMmPerMetre);
    low = glm::min(low, p), high = glm::max(high, p);
    append(binary, p);
  }
  const std::size_t split = binary.size();
  for (const glm::uvec3& face : mesh.faces) append(binary, face);
  const std::string description = fmt::format(
      R"({{"asset":{{"generator":"Trocar mesh","version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{{"mesh":0}}],)"
      R"("meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1}}]}}],"accessors":[)"
      R"({{"bufferView":0,"componentType":5126,"count":{},"type":"VEC3","min":[{},{},{}],"max":[{},{},{}]}},)"
      R"({{"bufferView":1,"componentType":5125,"count":{},"type":"SCALAR"}}],"bufferViews":[)"
      R"({{"buffer":0,"byteLength":{},"target":34962}},{{"buffer":0,"byteOffset":{},"byteLength":{},"target":34963}}],)"
      R"("buffers":[{{"byteLength":{}}}]}})",
      mesh.points.size(), low.x, low.y, low.z, high.x, high.y, high.z, 3 * mesh.faces.size(), split, split,
      binary.size() - split, binary.size());
  std::string chunks;
  append_chunk(chunks, 0x4E4F534A, description, ' ');
  append_chunk(chunks, 0x004E4942, std::move(binary), '\0');
  std::string file = "glTF";
  append(file, std::uint32_t{2});
  append(file, static_cast<std::uint32_t>(12 + chunks.size()));
  return file + chunks;
}

}  // namespace trocar::mesh_io
