// Changes a refitted tree where faces change. Each new face goes to the leaf whose volume is nearest on the path from
// the root. Leaves that lose or gain faces are split again; a larger subtree is, when as many of its faces have changed
// since it was built as it now has, so that the depth and the volumes stay those of a new tree up to a constant factor.
// The cost per changed face is then O(log n) on average, in addition to a pass that copies and renumbers the flat
// arrays. Based on: the partial rebuilding of Overmars, "The design of dynamic data structures", 1983. Units: metres.
// Tested in tests/cpu_collision/change_faces_test.cpp
#pragma once

#include <algorithm>
#include <compare>
#include <limits>

#include "cpu_collision/trees/fit.hpp"
#include "geometry/face_numbers.hpp"

namespace trocar {

template <class Volume>
struct TreeBuilder;

template <class Volume>
class TreeChange {
  // A subtree with more than this part of all faces is built again only after this many times as many changes: one that
  // is smaller costs less than a frame can spare.
  static constexpr float kLargePart = 0.125f;
  static constexpr std::uint32_t kLargeAge = 8;

 public:
  using Tree = VolumeTree<Volume>;

  // Call after a build of the whole tree.
  void begin(const Tree& tree) { age_.assign(tree.node_count(), 0); }
  // Applies a change as TouchQuery::change_faces() defines it. `faces`, `positions`: after it. The volumes are not yet
  // fitted. The tree must have faces before.
  void apply(std::span<const FaceId> removed, std::span<const glm::uvec3> faces, const PaddedPositions& positions,
             const SplitParams& params, Tree& tree);
  std::size_t memory_bytes() const;

 private:
  // A new face and its leaf.
  struct Entering {
    std::uint32_t leaf, face;
    auto operator<=>(const Entering&) const = default;
  };
  struct NodeChange {
    std::uint32_t own, below;  // faces removed from or entering its own faces; this subtree
    std::uint32_t faces;       // below it, after the change
  };

  void choose_leaves(std::uint32_t first_new, std::span<const glm::uvec3> faces, const PaddedPositions& positions,
                     const Tree& tree);
  std::uint32_t nearest_leaf(Lanes4 point, const Tree& tree) const;
  void count_changes(const Tree& tree);
  void copy_faces(IndexRange slots, const Tree& tree);
  void copy_vertices(IndexRange own, const Tree& tree);
  void copy_node(std::uint32_t node, const Tree& tree);
  void copy_subtree(std::uint32_t node, const Tree& tree);
  void build_subtree(std::uint32_t node, std::span<const glm::uvec3> faces, const PaddedPositions& positions,
                     const SplitParams& params, const Tree& tree);

  std::vector<std::uint32_t> age_;  // [node] faces that changed below it since its subtree was built
  // Scratch buffers.
  std::vector<std::uint32_t> after_;  // [face before the change] its number after it
  std::vector<Entering> entering_;    // sorted
  std::size_t entered_ = 0;           // those that are already in next_
  std::vector<NodeChange> changes_;   // [node]
  Tree next_;                         // the changed tree
  std::vector<std::uint32_t> next_age_;
  // A subtree that is built again, with its own numbers of faces and vertices.
  TreeBuilder<Volume> builder_;
  Tree part_;
  std::vector<std::uint32_t> part_faces_, part_vertices_;  // [local number] number in the mesh
  std::vector<std::uint32_t> local_;                       // [vertex] its local number, kRemovedFace: none
  std::vector<glm::uvec3> local_faces_;
  std::vector<Lanes4> local_positions_;
};

template <class Volume>
void TreeChange<Volume>::apply(std::span<const FaceId> removed, std::span<const glm::uvec3> faces,
                               const PaddedPositions& positions, const SplitParams& params, Tree& tree) {
  renumber(removed, tree.face_of_slot.size(), after_);
  choose_leaves(static_cast<std::uint32_t>(after_.size() - removed.size()), faces, positions, tree);
  count_changes(tree);
  for (auto* list : {&next_.own, &next_.face_of_slot, &next_.listed, &next_age_}) list->clear();
  next_.nodes.clear(), next_.slots.clear(), next_.own_vertices.clear();
  local_.resize(positions.view().size(), kRemovedFace);
  entered_ = 0;
  for (std::uint32_t node = 0; node < tree.node_count();) {
    const NodeChange& change = changes_[node];
    const bool large = change.faces > kLargePart * changes_[0].faces;
    const bool many = age_[node] + change.below > (large ? kLargeAge : 1u) * change.faces;
    if (change.faces > 0 && change.below > 0 && change.own == 0 && !many) {
      copy_node(node++, tree);
      continue;
    }
    if (change.below == 0) {
      copy_subtree(node, tree);
    } else if (change.faces > 0) {
      build_subtree(node, faces, positions, params, tree);
    }
    node = tree.skip[node];
  }
  link_nodes(next_);
  arrange_vertices(next_);
  std::swap(tree, next_);
  std::swap(age_, next_age_);
}

template <class Volume>
std::uint32_t TreeChange<Volume>::nearest_leaf(Lanes4 point, const Tree& tree) const {
  std::uint32_t node = 0;
  while (!tree.is_leaf(node)) {
    std::uint32_t nearest = node + 1;
    float least = std::numeric_limits<float>::max();
    for (std::uint32_t child = node + 1; child != tree.skip[node]; child = tree.skip[child]) {
      const float distance = least_distance(tree.nodes[child], point);
      if (distance < least) least = distance, nearest = child;
    }
    node = nearest;
  }
  return node;
}

template <class Volume>
void TreeChange<Volume>::choose_leaves(std::uint32_t first_new, std::span<const glm::uvec3> faces,
                                       const PaddedPositions& positions, const Tree& tree) {
  entering_.clear();
  for (std::uint32_t face = first_new; face < faces.size(); ++face) {
    const glm::uvec3& corner = faces[face];
    const Lanes4 middle = first_three(positions[corner.x] + positions[corner.y] + positions[corner.z]) / lanes(3.f);
    entering_.push_back({nearest_leaf(middle, tree), face});
  }
  std::sort(entering_.begin(), entering_.end());
}

template <class Volume>
void TreeChange<Volume>::count_changes(const Tree& tree) {
  changes_.assign(tree.node_count(), {});
  for (const Entering& entering : entering_) ++changes_[entering.leaf].own, ++changes_[entering.leaf].faces;
  for (std::uint32_t node = tree.node_count(); node-- > 0;) {
    NodeChange& change = changes_[node];
    for (std::uint32_t k = tree.slots[node].first; k < tree.slots[node].first + tree.own[node]; ++k) {
      const bool stays = after_[tree.face_of_slot[k]] != kRemovedFace;
      change.own += !stays;
      change.faces += stays;
    }
    change.below = change.own;
    for (std::uint32_t child = node + 1; child != tree.skip[node]; child = tree.skip[child]) {
      change.below += changes_[child].below;
      change.faces += changes_[child].faces;
    }
  }
}

template <class Volume>
void TreeChange<Volume>::copy_faces(IndexRange slots, const Tree& tree) {
  for (std::uint32_t k = slots.first; k < slots.first + slots.count; ++k)
    next_.face_of_slot.push_back(after_[tree.face_of_slot[k]]);
}

template <class Volume>
void TreeChange<Volume>::copy_vertices(IndexRange own, const Tree& tree) {
  next_.own_vertices.push_back({static_cast<std::uint32_t>(next_.listed.size()), own.count});
  const auto first = tree.vertices.begin() + own.first;
  next_.listed.insert(next_.listed.end(), first, first + own.count);
}

// Copies a node without its children.
template <class Volume>
void TreeChange<Volume>::copy_node(std::uint32_t node, const Tree& tree) {
  next_.nodes.push_back(tree.nodes[node]);
  next_.slots.push_back({static_cast<std::uint32_t>(next_.face_of_slot.size()), changes_[node].faces});
  next_.own.push_back(tree.own[node]);
  next_age_.push_back(age_[node] + changes_[node].below);
  copy_faces({tree.slots[node].first, tree.own[node]}, tree);
  copy_vertices(tree.own_vertices[node], tree);
}

template <class Volume>
void TreeChange<Volume>::copy_subtree(std::uint32_t node, const Tree& tree) {
  const std::uint32_t end = tree.skip[node];
  const std::uint32_t moved = static_cast<std::uint32_t>(next_.face_of_slot.size()) - tree.slots[node].first;
  copy_faces(tree.slots[node], tree);
  next_.nodes.insert(next_.nodes.end(), tree.nodes.begin() + node, tree.nodes.begin() + end);
  next_.own.insert(next_.own.end(), tree.own.begin() + node, tree.own.begin() + end);
  next_age_.insert(next_age_.end(), age_.begin() + node, age_.begin() + end);
  for (std::uint32_t k = node; k < end; ++k) {
    next_.slots.push_back({tree.slots[k].first + moved, tree.slots[k].count});
    copy_vertices(tree.own_vertices[k], tree);
  }
}

template <class Volume>
void TreeChange<Volume>::build_subtree(std::uint32_t node, std::span<const glm::uvec3> faces,
                                       const PaddedPositions& positions, const SplitParams& params, const Tree& tree) {
  part_faces_.clear(), part_vertices_.clear(), local_faces_.clear(), local_positions_.clear();
  const IndexRange slots = tree.slots[node];
  for (std::uint32_t k = slots.first; k < slots.first + slots.count; ++k)
    if (const std::uint32_t face = after_[tree.face_of_slot[k]]; face != kRemovedFace) part_faces_.push_back(face);
  for (; entered_ < entering_.size() && entering_[entered_].leaf < tree.skip[node]; ++entered_)
    part_faces_.push_back(entering_[entered_].face);
  const auto local = [&](std::uint32_t vertex) {
    if (local_[vertex] == kRemovedFace) {
      local_[vertex] = static_cast<std::uint32_t>(part_vertices_.size());
      part_vertices_.push_back(vertex);
      local_positions_.push_back(first_three(positions[vertex]));
    }
    return local_[vertex];
  };
  for (const std::uint32_t face : part_faces_) {
    const glm::uvec3& corner = faces[face];
    const std::uint32_t a = local(corner.x), b = local(corner.y), c = local(corner.z);
    local_faces_.push_back({a, b, c});
  }
  builder_.build(local_positions_, local_faces_, params, part_);
  const auto moved = static_cast<std::uint32_t>(next_.face_of_slot.size());
  for (const std::uint32_t face : part_.face_of_slot) next_.face_of_slot.push_back(part_faces_[face]);
  next_.nodes.insert(next_.nodes.end(), part_.nodes.begin(), part_.nodes.end());
  next_.own.insert(next_.own.end(), part_.own.begin(), part_.own.end());
  next_age_.resize(next_.nodes.size(), 0);
  for (std::uint32_t k = 0; k < part_.node_count(); ++k) {
    next_.slots.push_back({part_.slots[k].first + moved, part_.slots[k].count});
    const IndexRange own = part_.own_vertices[k];
    next_.own_vertices.push_back({static_cast<std::uint32_t>(next_.listed.size()), own.count});
    for (std::uint32_t i = own.first; i < own.first + own.count; ++i)
      next_.listed.push_back(part_vertices_[part_.vertices[i]]);
  }
  for (const std::uint32_t vertex : part_vertices_) local_[vertex] = kRemovedFace;
}

template <class Volume>
std::size_t TreeChange<Volume>::memory_bytes() const {
  return trocar::memory_bytes(next_) + trocar::memory_bytes(part_) + builder_.memory_bytes() +
         held_bytes(age_, after_, entering_, changes_, next_.nodes, next_age_, part_.nodes, part_faces_, part_vertices_,
                    local_, local_faces_, local_positions_);
}

}  // namespace trocar
