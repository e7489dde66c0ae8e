// The functions of temporary_folder.hpp, test_data.hpp and glb.hpp.
#include <stdlib.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tests/support/glb.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "trocar-test-XXXXXX").string();
  path_ = mkdtemp(name.data());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TemporaryFolder::write(std::string_view name, std::string_view content) const {
  const auto file = path_ / name;
  std::ofstream(file, std::ios::binary) << content;
  return file;
}

std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::filesystem::path repository_file(std::string_view relative) {
  return std::filesystem::path(TROCAR_SOURCE_DIR) / relative;
}

std::optional<std::filesystem::path> shared_file(std::string_view relative) {
  const char* folder = std::getenv("TROCAR_TEST_DATA");
  const std::filesystem::path root =
      folder ? std::filesystem::path(folder) : std::filesystem::path(TROCAR_SOURCE_DIR) / ".." / "shared" / "data";
  const std::filesystem::path file = root / relative;
  if (std::filesystem::exists(file)) return file;
  std::printf("SKIPPED: no shared test data at %s\n", file.string().c_str());
  return std::nullopt;
}

namespace {

void add_bytes(std::string& to, const void* data, std::size_t size) { to.append(static_cast<const char*>(data), size); }

std::string little_endian(std::size_t value) {
  const auto word = static_cast<std::uint32_t>(value);
  std::string bytes;
  add_bytes(bytes, &word, sizeof word);
  return bytes;
}

}  // namespace

std::string glb(std::string json, std::string buffer) {
  json.resize((json.size() + 3) / 4 * 4, ' ');
  buffer.resize((buffer.size() + 3) / 4 * 4, '\0');
  std::string body = little_endian(json.size()) + "JSON" + json;
  if (!buffer.empty()) body += little_endian(buffer.size()) + std::string("BIN\0", 4) + buffer;
  return "glTF" + little_endian(2) + little_endian(12 + body.size()) + body;
}

std::string glb_of(const std::vector<NamedMesh>& parts) {
  std::string buffer, views, accessors, meshes, nodes;
  int count = 0;  // of buffer views
  const auto add_view = [&](const void* data, std::size_t bytes, const std::string& accessor) {
    const std::string comma = count > 0 ? "," : "";
    accessors += comma + "{\"bufferView\":" + std::to_string(count++) + "," + accessor + "}";
    views += comma + std::string("{\"buffer\":0,\"byteOffset\":") + std::to_string(buffer.size()) +
             ",\"byteLength\":" + std::to_string(bytes) + "}";
    add_bytes(buffer, data, bytes);
  };
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const TriangleMesh& mesh = parts[k].mesh;
    add_view(mesh.positions.data(), mesh.positions.size() * sizeof(glm::vec3),
             "\"componentType\":5126,\"type\":\"VEC3\",\"count\":" + std::to_string(mesh.positions.size()));
    add_view(mesh.faces.data(), mesh.faces.size() * sizeof(glm::uvec3),
             "\"componentType\":5125,\"type\":\"SCALAR\",\"count\":" + std::to_string(3 * mesh.faces.size()));
    const std::string number = std::to_string(k), comma = k > 0 ? "," : "";
    meshes += comma + "{\"primitives\":[{\"attributes\":{\"POSITION\":" + std::to_string(2 * k) +
              "},\"indices\":" + std::to_string(2 * k + 1) + "}]}";
    nodes += comma + "{\"name\":\"" + parts[k].name + "\",\"mesh\":" + number +
             (k + 1 < parts.size() ? ",\"children\":[" + std::to_string(k + 1) + "]}" : "}");
  }
  return glb("{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":" + std::to_string(buffer.size()) +
                 "}],\"bufferViews\":[" + views + "],\"accessors\":[" + accessors + "],\"meshes\":[" + meshes +
                 "],\"nodes\":[" + nodes + "]}",
             buffer);
}

}  // namespace trocar
