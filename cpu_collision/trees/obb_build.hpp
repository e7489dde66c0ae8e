// Builds a tree of oriented boxes: the boxes' axes and the topology.
// Based on: Gottschalk, Lin, Manocha, "OBBTree", SIGGRAPH 1996, as in section 4.5.6 of the thesis: axes from a
// covariance, split at the mean along the longest axis, each face on the side of its centroid. We differ: the
// covariance is that of the surface, each triangle weighted by its area, instead of that of the convex hull. It is
// equally independent of the meshing density, and needs no hull per node. Units: metres.   Checked in
// tests/cpu_collision/obb_tree_test.cpp
#pragma once

#include "cpu_collision/trees/obb.hpp"

namespace trocar {

using ObbTree = VolumeTree<ObbNode>;

// Scratch buffers of a build; kept between builds so that repeated builds do not allocate.
struct FaceMoments {
  Lanes4 first;   // weight, weight * centroid
  Lanes4 square;  // weighted second moments xx, yy, zz, 0
  Lanes4 mixed;   // xy, xz, yz, and the bits of the face's number
};

struct SplitNode {
  Lanes4 axis_x{}, axis_y{}, axis_z{};  // as in ObbNode
  IndexRange slots;
  std::uint32_t left = 0;  // its first child, followed by the second; 0 for a leaf
};

struct WaitingNode {
  std::uint32_t node;
  int depth = 0;
};

struct ObbScratch {
  std::vector<FaceMoments> moments, aside;  // [face]
  std::vector<SplitNode> split;             // [node] in the order of splitting
  std::vector<WaitingNode> waiting;         // stack of nodes to split
};

std::size_t memory_bytes(const ObbScratch& scratch);

// Computes axes and topology of a new tree; its boxes are not yet fitted. Ignores the rule in `params`.
// positions: [vertex] x, y, z, 0.
void build_obb_tree(std::span<const Lanes4> positions, std::span<const glm::uvec3> faces, const SplitParams& params,
                    ObbScratch& scratch, ObbTree& tree);

}  // namespace trocar
