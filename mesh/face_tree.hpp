// Builds a tree of axis-aligned boxes over the faces of a static mesh. Finds pairs of faces whose boxes overlap, and
// the face nearest to a point. The trees of touch queries (cpu_collision/trees) follow moving meshes with volumes of
// many kinds; they lie above this room, and here would cost a copy of the mesh and an update for each tool. Units:
// metres.   Tested against brute force in tests/mesh/mesh_report_test.cpp and organ_maker_test.cpp
#pragma once

#include <cstdint>
#include <vector>

#include "geometry/mesh_view.hpp"

namespace trocar {

struct FaceBox {
  glm::vec3 low, high;  // m
};

inline bool boxes_overlap(const FaceBox& a, const FaceBox& b) {  // touching counts
  return glm::all(glm::lessThanEqual(a.low, b.high)) && glm::all(glm::lessThanEqual(b.low, a.high));
}

struct FaceTree {
  struct Node {
    FaceBox box;
    std::uint32_t first;  // leaf: first entry of `order`; inner node: first of two adjacent children
    std::uint32_t count;  // leaf: faces; inner node: 0
  };
  MeshView mesh;
  std::vector<Node> nodes;           // [node] root first
  std::vector<std::uint32_t> order;  // [face]
  std::vector<FaceBox> boxes;        // [face]
};

// Builds the tree of a mesh with at least one face. The view must outlive the tree.
FaceTree build_face_tree(const MeshView& mesh);

// Returns the distance from the point to the surface, m.
double distance_to_surface(const FaceTree& tree, const glm::dvec3& point);

namespace face_tree_detail {

template <class Visit>
void visit_faces(const FaceTree& tree, const FaceTree::Node& a, const FaceTree::Node& b, Visit& visit) {
  for (std::uint32_t i = 0; i < a.count; ++i) {
    for (std::uint32_t j = &a == &b ? i + 1 : 0; j < b.count; ++j) {
      const std::uint32_t f = tree.order[a.first + i], g = tree.order[b.first + j];
      if (boxes_overlap(tree.boxes[f], tree.boxes[g])) f < g ? visit(f, g) : visit(g, f);
    }
  }
}

template <class Visit>
void visit_pairs(const FaceTree& tree, const FaceTree::Node& a, const FaceTree::Node& b, Visit& visit) {
  if (!boxes_overlap(a.box, b.box)) return;
  const bool same = &a == &b;
  if (a.count > 0 && b.count > 0) return visit_faces(tree, a, b, visit);
  if (same) {
    const FaceTree::Node &left = tree.nodes[a.first], &right = tree.nodes[a.first + 1];
    visit_pairs(tree, left, left, visit);
    visit_pairs(tree, right, right, visit);
    visit_pairs(tree, left, right, visit);
    return;
  }
  const auto size = [](const FaceBox& box) { return glm::dot(box.high - box.low, box.high - box.low); };
  const bool split_a = b.count > 0 || (a.count == 0 && size(a.box) > size(b.box));
  const FaceTree::Node& inner = split_a ? a : b;
  for (std::uint32_t child = inner.first; child < inner.first + 2; ++child) {
    split_a ? visit_pairs(tree, tree.nodes[child], b, visit) : visit_pairs(tree, a, tree.nodes[child], visit);
  }
}

}  // namespace face_tree_detail

// Calls visit(f, g), f < g, once for every two faces whose boxes share a point.
template <class Visit>
void for_each_overlapping_pair(const FaceTree& tree, Visit visit) {
  face_tree_detail::visit_pairs(tree, tree.nodes[0], tree.nodes[0], visit);
}

}  // namespace trocar
