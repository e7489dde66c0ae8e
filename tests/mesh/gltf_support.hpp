// Provides small glTF files, built word by word, and lists the corners of the meshes in them.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "mesh/mesh_io.hpp"
#include "tests/support/glb.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar::test {

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
