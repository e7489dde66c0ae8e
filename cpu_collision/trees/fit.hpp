// Fits the volumes of a tree around the positions, from the last node to the first, so that children come before their
// parents: O(nodes). The same loop for every kind of volume; a kind says how one of it goes around points and children:
//   static void fit(Volume& node, const OwnPoints&, const Children<Volume>&, Lanes4 rounding);
// Source: van den Bergen 1997, as in section 4.5.4 of the thesis.   Units: metres.   Tested in
// tests/cpu_collision/tree_volumes_test.cpp
#pragma once

#include "cpu_collision/trees/volume_tree.hpp"

namespace trocar {

// Rounding of axes and of sums in float, as a part of the largest coordinate; volumes grow by it to contain their
// faces.
constexpr float kFitRounding = 1e-6f;

// Corners of a node's own faces: where they are and, for a volume around a motion, where they will be.
struct OwnPoints {
  std::span<const Lanes4> positions, after;  // [vertex] m; `after` may be empty
  std::span<const std::uint32_t> vertices;

  template <class Visit>
  void each(Visit visit) const {
    for (const std::uint32_t v : vertices) visit(positions[v]);
    if (after.empty()) return;
    for (const std::uint32_t v : vertices) visit(after[v]);
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

// reach: largest coordinate, m. With `after`, volumes hold the straight motion of every face between the two.
template <class Volume>
void fit_tree(std::span<const Lanes4> positions, std::span<const Lanes4> after, float reach, VolumeTree<Volume>& tree) {
  const Lanes4 rounding = lanes(kFitRounding * reach);
  for (std::uint32_t i = tree.node_count(); i-- > 0;) {
    const IndexRange own = tree.own_vertices[i];
    const OwnPoints points{positions, after, std::span(tree.vertices).subspan(own.first, own.count)};
    Volume::fit(tree.nodes[i], points, Children<Volume>{tree, i}, rounding);
  }
}

}  // namespace trocar
