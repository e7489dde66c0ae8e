#include "mesh/face_tree.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>

#include "geometry/refine.hpp"

namespace trocar {
namespace {

constexpr std::uint32_t kLeafFaces = 4;

FaceBox box_of(const MeshView& mesh, const glm::uvec3& face) {
  const glm::vec3 &a = mesh.positions[face.x], &b = mesh.positions[face.y], &c = mesh.positions[face.z];
  return {glm::min(a, glm::min(b, c)), glm::max(a, glm::max(b, c))};
}

FaceBox box_of(const FaceTree& tree, std::uint32_t first, std::uint32_t count) {
  FaceBox box = tree.boxes[tree.order[first]];
  for (std::uint32_t i = 1; i < count; ++i) {
    const FaceBox& other = tree.boxes[tree.order[first + i]];
    box = {glm::min(box.low, other.low), glm::max(box.high, other.high)};
  }
  return box;
}

// Splits the node's faces at the median along its longest side until few remain.
void split(FaceTree& tree, std::uint32_t node) {
  const auto [box, first, count] = tree.nodes[node];
  if (count <= kLeafFaces) return;
  const glm::vec3 side = box.high - box.low;
  const int axis = side.x >= side.y && side.x >= side.z ? 0 : side.y >= side.z ? 1 : 2;
  const auto begin = tree.order.begin() + first;
  const std::uint32_t half = count / 2;
  std::nth_element(begin, begin + half, begin + count, [&tree, axis](std::uint32_t f, std::uint32_t g) {
    return tree.boxes[f].low[axis] + tree.boxes[f].high[axis] < tree.boxes[g].low[axis] + tree.boxes[g].high[axis];
  });
  const auto children = static_cast<std::uint32_t>(tree.nodes.size());
  tree.nodes[node].first = children;
  tree.nodes[node].count = 0;
  tree.nodes.push_back({box_of(tree, first, half), first, half});
  tree.nodes.push_back({box_of(tree, first + half, count - half), first + half, count - half});
  split(tree, children);
  split(tree, children + 1);
}

double distance_to_box(const FaceBox& box, const glm::dvec3& p) {
  return glm::length(glm::max(glm::max(glm::dvec3(box.low) - p, p - glm::dvec3(box.high)), glm::dvec3(0.0)));
}

}  // namespace

FaceTree build_face_tree(const MeshView& mesh) {
  FaceTree tree;
  tree.mesh = mesh;
  const auto faces = static_cast<std::uint32_t>(mesh.faces.size());
  for (const glm::uvec3& face : mesh.faces) tree.boxes.push_back(box_of(mesh, face));
  tree.order.resize(faces);
  std::iota(tree.order.begin(), tree.order.end(), 0u);
  tree.nodes.reserve(2 * (faces / 2 + 1));
  tree.nodes.push_back({box_of(tree, 0, faces), 0, faces});
  split(tree, 0);
  return tree;
}

double distance_to_surface(const FaceTree& tree, const glm::dvec3& point) {
  using Entry = std::pair<double, std::uint32_t>;  // distance to the box, node
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  open.emplace(distance_to_box(tree.nodes[0].box, point), 0u);
  double best = std::numeric_limits<double>::infinity();
  while (!open.empty() && open.top().first < best) {
    const FaceTree::Node& node = tree.nodes[open.top().second];
    open.pop();
    for (std::uint32_t i = 0; i < node.count; ++i) {
      const glm::uvec3& face = tree.mesh.faces[tree.order[node.first + i]];
      best = std::min(best, closest_segment_triangle(point, point, triangle_of(tree.mesh.positions, face)).distance);
    }
    if (node.count > 0) continue;
    for (std::uint32_t child = node.first; child < node.first + 2; ++child) {
      const double distance = distance_to_box(tree.nodes[child].box, point);
      if (distance < best) open.emplace(distance, child);
    }
  }
  return best;
}

}  // namespace trocar
