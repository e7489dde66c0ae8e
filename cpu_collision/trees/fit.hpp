// Fits the volumes of a tree around the positions, children before their parents: O(nodes). The same loops serve every
// kind of volume; a kind defines how one volume is fitted around points and children:
//   template <class Points, class Kids> static void fit(Volume& node, Points, Kids, Lanes4 rounding);
// Leaves come first, grouped by their number of vertices, then the inner nodes, so that branches are predictable. On a
// liver of 30,000 faces that takes half the time of one loop over all nodes.
// Source: van den Bergen 1997, as in section 4.5.4 of the thesis.   Units: metres.   Tested in
// tests/study/tree_build_test.cpp
#pragma once

#include "cpu_collision/trees/padded_positions.hpp"
#include "cpu_collision/trees/volume_tree.hpp"

namespace trocar {

// Rounding of axes and of sums in float, as a part of the largest coordinate; volumes grow by it so that they contain
// their faces.
constexpr float kFitRounding = 1e-6f;

// Vertices of faces: x, y, z, and an undefined fourth lane. `after`: their end positions, for a volume around a motion;
// may be null.
struct OwnPoints {
  const PaddedPositions &positions, *after;
  std::span<const std::uint32_t> vertices;

  template <class Visit>
  void each(Visit visit) const {
    for (const std::uint32_t v : vertices) visit(positions[v]);
    if (!after) return;
    for (const std::uint32_t v : vertices) visit((*after)[v]);
  }
};

template <class Volume>
struct Children {
  const VolumeTree<Volume>& tree;
  std::uint32_t node;

  template <class Visit>
  void each(Visit visit) const {
    for (std::uint32_t c = node + 1; c != tree.skip[node]; c = tree.skip[c]) visit(tree.nodes[c]);
  }
};

struct None {
  template <class Visit>
  void each(Visit) const {}
};

// Fits all volumes. largest: largest coordinate, m. With `after`, volumes contain the straight motion of every face
// from the start to the end positions.
template <class Volume>
void fit_tree(const PaddedPositions& positions, const PaddedPositions* after, float largest, VolumeTree<Volume>& tree) {
  const Lanes4 rounding = lanes(kFitRounding * largest);
  const auto points_of = [&](std::uint32_t node) {
    const IndexRange own = tree.own_vertices[node];
    return OwnPoints{positions, after, std::span(tree.vertices).subspan(own.first, own.count)};
  };
  const std::uint32_t* vertex = tree.vertices.data();
  const std::uint32_t* leaf = tree.leaves.data();
  for (const LeafGroup& group : tree.leaf_groups) {
    for (std::uint32_t k = 0; k < group.leaves; ++k, ++leaf, vertex += group.vertices)
      Volume::fit(tree.nodes[*leaf], OwnPoints{positions, after, {vertex, group.vertices}}, None{}, rounding);
  }
  for (const std::uint32_t node : tree.inner) {
    if (tree.own[node] == 0) {
      Volume::fit(tree.nodes[node], None{}, Children<Volume>{tree, node}, rounding);
    } else {
      Volume::fit(tree.nodes[node], points_of(node), Children<Volume>{tree, node}, rounding);
    }
  }
}

// Corners of the faces below a node.
struct FacePoints {
  const PaddedPositions& positions;
  std::span<const glm::uvec3> faces;
  std::span<const std::uint32_t> below;

  template <class Visit>
  void each(Visit visit) const {
    for (const std::uint32_t face : below)
      for (int k = 0; k < 3; ++k) visit(positions[faces[face][k]]);
  }
};

// Fits every volume around the faces below it instead of around its children's volumes, in O(faces x depth). The
// volumes are tighter for kinds whose volumes do not nest, and equal for axis-aligned boxes.
template <class Volume>
void fit_tightly(const PaddedPositions& positions, std::span<const glm::uvec3> faces, float largest,
                 VolumeTree<Volume>& tree) {
  for (std::uint32_t node = 0; node < tree.node_count(); ++node) {
    const auto below = std::span(tree.face_of_slot).subspan(tree.slots[node].first, tree.slots[node].count);
    Volume::fit(tree.nodes[node], FacePoints{positions, faces, below}, None{}, lanes(kFitRounding * largest));
  }
}

}  // namespace trocar
