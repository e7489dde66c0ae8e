#include "mesh/gltf_file.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "geometry/error.hpp"
#include "mesh/mesh_io_numbers.hpp"
#include "mesh/text_lines.hpp"

namespace trocar::mesh_io {
namespace {

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

std::string decoded(const GltfValue& buffer, std::string_view digits) {
  std::string bytes;
  bytes.reserve(digits.size() / 4 * 3);
  std::uint32_t group = 0;
  int bits = 0;
  while (!digits.empty() && digits.back() == '=') digits.remove_suffix(1);
  for (const char c : digits) {
    const int digit = base64_digit(c);
    if (digit < 0) buffer.refuse("has a character that is not base64", kCopy);
    group = group << 6 | static_cast<std::uint32_t>(digit), bits += 6;
    if (bits >= 8) bytes.push_back(static_cast<char>(group >> (bits -= 8) & 0xFF));
  }
  return bytes;
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

}  // namespace

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
      content_->decoded[k] = decoded(uri, std::string_view(where).substr(start + kBase64.size()));
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

}  // namespace trocar::mesh_io
