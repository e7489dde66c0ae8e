// Damages files of mesh formats: each must give a mesh whose faces use existing vertices at finite positions, or one
// error sentence. Files are cut at every length, and bytes are flipped at random.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iostream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "mesh/mesh_io_formats.hpp"
#include "tests/support/glb.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar::test {

using mesh_io::FileMesh;
using mesh_io::Source;

struct Format {
  const char* name;
  FileMesh (*read)(const Source&);
  std::string (*write)(const FileMesh&, MeshEncoding);
  MeshEncoding encoding;
  int flips;
};

inline FileMesh small_mesh() {
  const TriangleMesh cube = shapes::cube(12.5f, glm::vec3(1, -20, 300));
  FileMesh mesh;
  for (const glm::vec3& p : cube.positions) mesh.points.emplace_back(p);
  mesh.faces = cube.faces;
  return mesh;
}

// Returns true when it was read as a mesh.
inline bool survives(const Format& format, const std::string& bytes) {
  const Source source{"damaged", bytes, 1e6};
  try {
    const FileMesh mesh = format.read(source);
    for (const glm::uvec3& face : mesh.faces)
      for (int corner = 0; corner < 3; ++corner) EXPECT_LT(face[corner], mesh.points.size()) << format.name;
    for (const glm::dvec3& p : mesh.points)
      EXPECT_TRUE(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z)) << format.name;
    return true;
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with("damaged:")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return false;
  }
}

inline void cut_at_every_length(std::span<const Format> formats) {
  for (const Format& format : formats) {
    const std::string whole = format.write(small_mesh(), format.encoding);
    ASSERT_TRUE(survives(format, whole)) << format.name;
    for (std::size_t length = 0; length < whole.size(); ++length) survives(format, whole.substr(0, length));
  }
}

// For formats that store their length, a cut file must not be read as a smaller mesh.
inline void cut_files_with_counts(std::span<const Format> formats) {
  for (const Format& format : formats) {
    if (std::string(format.name) == "obj") continue;
    const std::string whole = format.write(small_mesh(), format.encoding);
    // The last line end, and one digit of a last number with several digits, may be missing.
    for (std::size_t length = 0; length + 20 < whole.size(); ++length) {
      const Source source{"cut", std::string_view(whole).substr(0, length), 1e6};
      try {
        EXPECT_TRUE(format.read(source).faces.empty()) << format.name << " cut at " << length;
      } catch (const InputError&) {
      }
    }
  }
}

inline void flip_bytes(std::span<const Format> formats) {
  const char* given = std::getenv("TROCAR_TEST_SEED");
  const auto seed = given ? static_cast<std::uint32_t>(std::atoll(given)) : std::random_device{}();
  std::cout << "seed " << seed << " (set TROCAR_TEST_SEED to repeat)\n";
  std::mt19937 random(seed);
  for (const Format& format : formats) {
    const std::string whole = format.write(small_mesh(), format.encoding);
    int read = 0;
    for (int round = 0; round < format.flips; ++round) {
      std::string damaged = whole;
      for (std::uint32_t flips = 1 + random() % 3; flips > 0; --flips) {
        const std::size_t at = random() % damaged.size();
        switch (random() % 4) {
          case 0:
            damaged[at] = static_cast<char>(random());
            break;
          case 1:
            damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
            break;
          case 2:
            damaged.erase(at, 1 + random() % 4);
            break;
          default:
            damaged.insert(at, 1, "0123456789 -e.\n\xFF"[random() % 16]);
        }
        if (damaged.empty()) break;
      }
      read += survives(format, damaged);
    }
    std::cout << format.name << ": " << read << " of " << format.flips << " damaged files are still a mesh\n";
  }
}

// Provides small glTF files, built word by word, and lists the corners of the meshes in them.

using Corners = std::vector<glm::vec3>;

inline Corners corners_of(const TriangleMesh& mesh) {
  Corners corners;
  for (const glm::uvec3& face : mesh.faces)
    for (int i = 0; i < 3; ++i) corners.push_back(mesh.positions[face[i]]);
  return corners;
}

inline void expect_near(const Corners& ours, const Corners& theirs, float allowed) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) ASSERT_LE(glm::distance(ours[i], theirs[i]), allowed) << "corner " << i;
}

template <typename T>
std::string bytes_of(std::initializer_list<T> values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.begin(), bytes.size());
  return bytes;
}

inline std::string word(std::uint32_t value) { return bytes_of({value}); }

// Three corners of a right triangle, 1, 2 and 3 units long, and their numbers: accessors 0 and 1 of most files here.
inline const std::string kTriangle =
    bytes_of({0.f, 0.f, 0.f, 1.f, 0.f, 0.f, 0.f, 2.f, 3.f}) + bytes_of<std::uint16_t>({0, 1, 2, 0});
inline const std::string kBuffers = R"("buffers":[{"byteLength":44}],"bufferViews":[{"buffer":0,"byteLength":36},)"
                                    R"({"buffer":0,"byteOffset":36,"byteLength":8}],)";
inline const std::string kAccessors = R"("accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"},)"
                                      R"({"bufferView":1,"componentType":5123,"count":3,"type":"SCALAR"}],)";
inline const std::string kMeshes =
    R"("meshes":[{"name":"sheet","primitives":[{"attributes":{"POSITION":0},"indices":1}]}],)";
inline const std::string kAsset = R"({"asset":{"version":"2.0"},)";

inline std::string with_nodes(const std::string& nodes) {
  return glb(kAsset + kBuffers + kAccessors + kMeshes + nodes + "}", kTriangle);
}

inline TriangleMesh loaded(const std::string& bytes, const char* name = "a.glb", double unit = kMillimetre) {
  const TemporaryFolder folder;
  return load_mesh(folder.write(name, bytes), unit);
}

}  // namespace trocar::test
