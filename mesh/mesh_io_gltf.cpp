// Reads glTF 2.0 (.glb, and .gltf with its data inside): the triangles of every node of the scene, in the scene's
// coordinates. Writes .glb. The format's unit is the metre; here, as in all readers, a file unit is a millimetre.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <glm/gtc/quaternion.hpp>
#include <limits>
#include <map>
#include <numeric>

#include "mesh/gltf_file.hpp"
#include "mesh/mesh_io_formats.hpp"

namespace trocar::mesh_io {
namespace {

constexpr double kMillimetres = 1e3;  // per metre
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
    part.mesh.facts.mm_per_number = kMillimetres;
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
      const glm::dvec3 p = kMillimetres * glm::dvec3(to_scene * glm::dvec4(point, 1.0));
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
    const glm::vec3 p(point / kMillimetres);
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
