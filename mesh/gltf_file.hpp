// Opens a glTF 2.0 file (Khronos) and reads the numbers of its accessors. Every index, length and type is checked
// before use. Internal to mesh/: mesh_io_gltf.cpp makes meshes of it.   Tested in tests/mesh/mesh_io_gltf_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "mesh/mesh_io_numbers.hpp"
#include "mesh/mesh_io_text.hpp"

namespace trocar::mesh_io {

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

}  // namespace trocar::mesh_io
