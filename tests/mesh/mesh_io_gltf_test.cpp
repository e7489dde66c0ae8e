// Tests the glTF reader on files built here word by word, and on damaged ones.
#include <gtest/gtest.h>

#include "geometry/error.hpp"
#include "mesh/mesh_io.hpp"
#include "tests/mesh/gltf_support.hpp"
#include "tests/support/glb.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

using test::bytes_of, test::Corners, test::corners_of, test::expect_near, test::loaded, test::with_nodes, test::word;
using test::kAccessors, test::kAsset, test::kBuffers, test::kMeshes, test::kTriangle;

TEST(Gltf, SavedAndLoadedHasTheSameBits) {
  const TemporaryFolder folder;
  const TriangleMesh mesh = shapes::random_soup(7, 300);
  save_mesh(mesh, folder.path() / "a.glb");
  const TriangleMesh again = load_mesh(folder.path() / "a.glb");
  EXPECT_EQ(again.faces, mesh.faces);
  EXPECT_TRUE(again.positions == mesh.positions);
  // In another unit the file has other numbers in single precision.
  save_mesh(mesh, folder.path() / "inch.glb", 0.0254);
  expect_near(corners_of(load_mesh(folder.path() / "inch.glb", 0.0254)), corners_of(mesh), 1e-8f);
}

TEST(Gltf, TheUnitIsTheMetre) {
  const Corners c = corners_of(loaded(with_nodes(R"("nodes":[{"mesh":0}])")));
  EXPECT_EQ(c, (Corners{{0, 0, 0}, {1, 0, 0}, {0, 2, 3}}));
  EXPECT_EQ(corners_of(loaded(with_nodes(R"("nodes":[{"mesh":0}])"), "a.GLB", 0.5 * kMillimetre))[1].x, 0.5f);
}

TEST(Gltf, NodesMoveTurnAndScaleTheirChildren) {
  // A child 10 along x of a parent that is turned by 90 degrees about z, doubled, and 100 along y.
  const std::string file = with_nodes(
      R"("scene":0,"scenes":[{"nodes":[1]}],"nodes":[{"mesh":0,"translation":[10,0,0]},)"
      R"({"children":[0],"rotation":[0,0,0.7071067811865476,0.7071067811865476],"scale":[2,2,2],"translation":[0,100,0]}])");
  expect_near(corners_of(loaded(file)), {{0, 120, 0}, {0, 122, 0}, {-4, 120, 6}}, 1e-5f);
  // The same as one matrix, column by column.
  const std::string matrix = with_nodes(R"("nodes":[{"mesh":0,"matrix":[0,2,0,0,-2,0,0,0,0,0,2,0,0,120,0,1]}])");
  expect_near(corners_of(loaded(matrix)), corners_of(loaded(file)), 1e-5f);
}

TEST(Gltf, AMirroredNodeKeepsItsFacesOutward) {
  const Corners c = corners_of(loaded(with_nodes(R"("nodes":[{"mesh":0,"scale":[-1,1,1]}])")));
  EXPECT_EQ(c, (Corners{{0, 0, 0}, {0, 2, 3}, {-1, 0, 0}}));
  const Corners twice = corners_of(loaded(with_nodes(R"("nodes":[{"mesh":0,"scale":[-1,-1,1]}])")));
  EXPECT_EQ(twice, (Corners{{0, 0, 0}, {-1, 0, 0}, {0, -2, 3}}));
}

TEST(Gltf, OnlyNodesOfTheSceneCountAndEachIsAPart) {
  const TemporaryFolder folder;
  const auto file = folder.write(
      "a.glb", with_nodes(R"("scene":1,"scenes":[{"nodes":[0]},{"nodes":[2,1]}],"nodes":[{"mesh":0,"name":"hidden"},)"
                          R"({"mesh":0,"name":"liver","translation":[5,0,0]},{"children":[3]},{"mesh":0}])"));
  const std::vector<MeshPart> parts = load_mesh_parts(file);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].name, "sheet");  // of the mesh, because the node has none
  EXPECT_EQ(parts[1].name, "liver");
  EXPECT_EQ(corners_of(parts[1].mesh)[0], glm::vec3(5, 0, 0));
  const TriangleMesh all = load_mesh(file);
  ASSERT_EQ(all.faces.size(), 2u);
  EXPECT_EQ(all.faces[1], glm::uvec3(3, 4, 5));
  const auto stl = folder.path() / "spleen.stl";
  save_mesh(all, stl);
  ASSERT_EQ(load_mesh_parts(stl).size(), 1u);
  EXPECT_EQ(load_mesh_parts(stl)[0].name, "spleen");
}

TEST(Gltf, StripsFansSharedVerticesAndLines) {
  const std::string corners =
      bytes_of({0.f, 0.f, 0.f, 1.f, 0.f, 0.f, 0.f, 1.f, 0.f, 1.f, 1.f, 0.f}) + bytes_of<std::uint8_t>({3, 2, 1, 0});
  const std::string start =
      kAsset +
      R"("buffers":[{"byteLength":52}],"bufferViews":[{"buffer":0,"byteLength":48},)"
      R"({"buffer":0,"byteOffset":48,"byteLength":4}],"accessors":[)"
      R"({"bufferView":0,"componentType":5126,"count":4,"type":"VEC3"},)"
      R"({"bufferView":1,"componentType":5121,"count":4,"type":"SCALAR"}],"nodes":[{"mesh":0}],"meshes":[{"primitives":[)";
  const auto with = [&](const std::string& primitives) { return loaded(glb(start + primitives + "]}]}", corners)); };
  EXPECT_EQ(with(R"({"attributes":{"POSITION":0},"mode":5})").faces, (std::vector<glm::uvec3>{{0, 1, 2}, {1, 3, 2}}));
  EXPECT_EQ(with(R"({"attributes":{"POSITION":0},"mode":6,"indices":1})").faces,
            (std::vector<glm::uvec3>{{3, 2, 1}, {3, 1, 0}}));
  const TriangleMesh both = with(R"({"attributes":{"POSITION":0},"mode":1},{"attributes":{"POSITION":0},"mode":5},)"
                                 R"({"attributes":{"POSITION":0},"mode":6})");
  EXPECT_EQ(both.positions.size(), 4u);
  EXPECT_EQ(both.faces, (std::vector<glm::uvec3>{{0, 1, 2}, {1, 3, 2}, {0, 1, 2}, {0, 2, 3}}));
}

TEST(Gltf, InterleavedQuantizedAndSparseNumbers) {
  // Positions as normalised bytes, 8 bytes apart; then one of them replaced.
  const std::string data = bytes_of<std::int8_t>({0, 0, 0, 9, 9, 9, 9, 9, 127, 0, 0, 9, 9, 9, 9, 9, 0, -127, -128, 9}) +
                           bytes_of<std::uint16_t>({2, 0}) + bytes_of<std::int8_t>({127, 127, 127, 0});
  const std::string json =
      kAsset +
      R"("extensionsRequired":["KHR_mesh_quantization","KHR_materials_unlit"],)"
      R"("buffers":[{"byteLength":28}],"bufferViews":[{"buffer":0,"byteLength":20,"byteStride":8},)"
      R"({"buffer":0,"byteOffset":20,"byteLength":4},{"buffer":0,"byteOffset":24,"byteLength":4}],"accessors":[)"
      R"({"bufferView":0,"componentType":5120,"normalized":true,"count":3,"type":"VEC3"SPARSE}],)"
      R"("nodes":[{"mesh":0}],"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}]})";
  const auto with = [&](const std::string& sparse) {
    std::string text = json;
    return corners_of(loaded(glb(text.replace(text.find("SPARSE"), 6, sparse), data)));
  };
  EXPECT_EQ(with(""), (Corners{{0, 0, 0}, {1, 0, 0}, {0, -1, -1}}));
  EXPECT_EQ(with(R"(,"sparse":{"count":1,"indices":{"bufferView":1,"componentType":5123},"values":{"bufferView":2}})"),
            (Corners{{0, 0, 0}, {1, 0, 0}, {1, 1, 1}}));
}

TEST(Gltf, TextWithItsDataInside) {
  std::string json = kAsset + kBuffers + kAccessors + kMeshes + R"("nodes":[{"mesh":0}]})";
  const std::string uri = R"("uri":"data:application/octet-stream;base64,)"
                          R"(AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAAEAAAEBAAAABAAIAAAA=",)";
  json.insert(json.find(R"("byteLength":44)"), uri);
  EXPECT_EQ(corners_of(loaded(json, "a.gltf")), (Corners{{0, 0, 0}, {1, 0, 0}, {0, 2, 3}}));
}

// ---- refusals ----

std::string message_of(const std::string& bytes, const char* name = "a.glb") {
  try {
    loaded(bytes, name);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

// The valid file with one part of its JSON replaced.
std::string altered(const std::string& from, const std::string& to) {
  std::string json = kAsset + kBuffers + kAccessors + kMeshes + R"("nodes":[{"mesh":0,"name":"n"}]})";
  const std::size_t at = json.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return glb(json.replace(at, from.size(), to), kTriangle);
}

TEST(Gltf, EachFaultHasItsSentence) {
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  struct Case {
    std::string bytes;
    const char* says;
  };
  const std::string good = altered("\"n\"", "\"n\"");
  EXPECT_EQ(message_of(good), "accepted");
  EXPECT_EQ(message_of(good + "xxxx"), "accepted");  // padding
  for (const Case& bad : std::vector<Case>{
           {"glTF", "within its header"},
           {good.substr(0, good.size() - 4), "bytes, but the file has"},
           {std::string(good).replace(4, 4, word(1)), "glTF version 1"},
           {std::string(good).replace(12, 4, word(1u << 30)), "longer than the file"},
           {std::string(good).replace(16, 4, "JSOM"), "first chunk is not JSON"},
           {altered("\"2.0\"", "\"1.0\""), "glTF version '1.0'"},
           {altered("\"version\":\"2.0\"", ""), "names no glTF version"},
           {altered("\"n\"", "\"n"), "JSON is malformed"},
           {altered("\"n\"", deep), "64 levels"},
           {altered("\"n\"", "5"), "nodes[0].name is not text"},
           {altered("\"n\"", "\"n\",\"skin\":0"), "deforms the mesh"},
           {altered("\"n\"", "\"n\",\"weights\":[0,0.5]"), "deform the mesh"},
           {altered("\"n\"", "\"n\",\"children\":[0]"), "no faces"},
           {altered("\"n\"", "\"n\"},{\"children\":[0]},{\"children\":[0]"), "used twice"},
           {altered("\"n\"", "\"n\",\"children\":[7]"), "nodes has 1 elements"},
           {altered("\"n\"", "\"n\",\"matrix\":[1,2]"), "has not 16 numbers"},
           {altered("\"n\"", "\"n\",\"matrix\":[1,0,0,1,0,1,0,0,0,0,1,0,0,0,0,1]"), "not affine"},
           {altered("\"n\"", "\"n\",\"rotation\":[0,0,0,0]"), "is zero"},
           {altered("\"n\"", "\"n\",\"scale\":[1e300,1,1]"), "from the origin"},
           {altered("\"n\"", "\"n\",\"scale\":[1,\"1\",1]"), "is not a number"},
           {altered("\"n\"", "\"n\",\"extensions\":{\"EXT_mesh_gpu_instancing\":{}}"), "has instances"},
           {altered("\"mesh\":0", "\"mesh\":-1"), "not a whole number"},
           {altered("\"mesh\":0", "\"mesh\":0.5"), "not a whole number"},
           {altered("\"mesh\":0", "\"mesh\":1"), "meshes has 1 elements"},
           {altered("\"POSITION\":0", "\"POSITION\":9"), "accessors has 2 elements"},
           {altered("\"POSITION\":0", "\"NORMAL\":0"), "POSITION is missing"},
           {altered("\"POSITION\":0", "\"POSITION\":1"), "three coordinates"},
           {altered("\"indices\":1", "\"indices\":0"), "vertex numbers that are not whole"},
           {altered("\"indices\":1", "\"indices\":1,\"mode\":7"), "not a mode"},
           {altered("\"indices\":1", "\"indices\":1,\"mode\":0"), "no faces"},
           {altered("\"count\":3,\"type\":\"SCALAR\"", "\"count\":4,\"type\":\"SCALAR\""), "make no triangles"},
           {altered("\"count\":3,\"type\":\"VEC3\"", "\"count\":2,\"type\":\"VEC3\""), "use vertex 2, and there are 2"},
           {altered("\"count\":3,\"type\":\"VEC3\"", "\"count\":4,\"type\":\"VEC3\""), "more than its data"},
           {altered("\"count\":3,\"type\":\"VEC3\"", "\"count\":9007199254740992,\"type\":\"VEC3\""),
            "more than its data"},
           {altered("\"type\":\"VEC3\"", "\"type\":\"VEC2\""), "'VEC2'"},
           {altered("5126", "5124"), "not a number type"},
           {altered("5126", "5123"), "no floating-point numbers"},
           {altered("\"bufferView\":0,", ""), "has no data"},
           {altered("\"byteLength\":36", "\"byteLength\":37000"), "longer than its buffer"},
           {altered("\"byteLength\":36", "\"byteLength\":36,\"byteStride\":4"), "overlap"},
           {altered("\"byteOffset\":36", "\"byteOffset\":18446744073709551615"), "longer than its buffer"},
           {altered("\"byteLength\":44", "\"byteLength\":45"), "should have 45"},
           {altered("\"byteLength\":44", "\"byteLength\":44,\"uri\":\"mesh.bin\""), "names another file"},
           {altered("\"byteLength\":44", "\"byteLength\":44,\"uri\":\"data:;base64,A?\""), "not base64"},
           {altered("\"asset\"", "\"extensionsRequired\":[\"KHR_draco_mesh_compression\"],\"asset\""),
            "'KHR_draco_mesh_compression'"},
           {altered("\"nodes\":[{\"mesh\":0,\"name\":\"n\"}]", "\"nodes\":4"), "nodes is not a list"},
       }) {
    const std::string said = message_of(bad.bytes);
    EXPECT_NE(said.find(bad.says), std::string::npos) << said << "\n  should contain " << bad.says;
    EXPECT_NE(said.find("; "), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
  EXPECT_NE(message_of("{\n\"asset\": }", "a.gltf").find("a.gltf:2: its JSON is malformed"), std::string::npos);
  const TemporaryFolder folder;
  EXPECT_THROW(save_mesh(shapes::cube(), folder.path() / "a.gltf"), InputError);
}

// A small file must not take long: many nodes may use one mesh of many primitives.
TEST(Gltf, AFileOfManyCopiesIsRefused) {
  std::string json = kAsset + kBuffers + kAccessors + R"("meshes":[{"primitives":[{"attributes":{},"mode":1})";
  for (int k = 1; k < 1024; ++k) json += R"(,{"mode":1})";
  json += R"(]}],"nodes":[{"mesh":0})";
  for (int k = 1; k < 1025; ++k) json += R"(,{"mesh":0})";
  const std::string said = message_of(glb(json + "]}", kTriangle));
  EXPECT_NE(said.find("primitives together; export fewer nodes"), std::string::npos) << said;
}

}  // namespace
}  // namespace trocar
