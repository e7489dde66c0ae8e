// Defines a tree of bounding volumes over the faces of a mesh, once for every kind of volume. It stores the faces below
// each node (the topology, made by a split rule) and a volume around each node's faces (fitted from the leaves up). A
// node has any number of children; it holds faces of its own when a split leaves faces that straddle its parts. Based
// on:
// section 4.5 of the thesis (top-down build, bottom-up refit, cost formula); van den Bergen, "Efficient collision
// detection of complex deformable models using AABB trees", 1997 (refit). We differ: leaves hold a few faces. Units:
// metres.   Tested in tests/study/tree_build_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "cpu_collision/lanes.hpp"

namespace trocar {

// Maximum number of faces in a leaf. Refit and tool query of a liver of 31,000 faces take 84, 67, 57 and 55
// microseconds with 8, 16, 32 and 48; queries of tree pairs, lines and points favour fewer.
constexpr std::uint32_t kLeafFaces = 16;

struct IndexRange {
  std::uint32_t first = 0, count = 0;
};

// Consecutive leaves in TreeTopology::leaves with equally many vertices.
struct LeafGroup {
  std::uint32_t leaves, vertices;
};

struct TreeTopology {
  std::vector<std::uint32_t> skip;          // [node] in preorder: the node after its subtree; node + 1 for a leaf
  std::vector<IndexRange> slots;            // [node] into face_of_slot: the faces below it, its own first
  std::vector<std::uint32_t> own;           // [node] number of its own faces; all of them in a leaf
  std::vector<std::uint32_t> face_of_slot;  // [slot]
  // Data that a fit traverses.
  std::vector<IndexRange> own_vertices;  // [node] into vertices: corners of its own faces
  std::vector<std::uint32_t> vertices;   // [own vertex] leaves first, in the order of `leaves`
  std::vector<std::uint32_t> leaves;     // [leaf] their nodes, by group
  std::vector<LeafGroup> leaf_groups;
  std::vector<std::uint32_t> inner;   // nodes with children, children before their parents
  std::vector<std::uint32_t> listed;  // scratch buffer of the build

  std::uint32_t node_count() const { return static_cast<std::uint32_t>(skip.size()); }
  bool is_leaf(std::uint32_t node) const { return skip[node] == node + 1; }
};

std::size_t memory_bytes(const TreeTopology& topology);

template <class Volume>
struct VolumeTree : TreeTopology {
  std::vector<Volume> nodes;  // [node]
};

// How a node's faces are split. A face is located by the centre of its box.
enum class SplitRule {
  Median,  // equal halves, along the longest side of the box around the centres
  Mean,    // at the mean of the centres, along the longest side
  Middle,  // at the middle of the node's box, along x, y, z in turn; a face that straddles it stays in the node
  Octree   // eight equal octants of the root's box, recursively
};

// Scratch buffers of a build; kept between builds so that repeated builds do not allocate.
struct WaitingRange {
  IndexRange slots;
  int depth;
  Lanes4 low, high;  // m  octant; SplitRule::Octree only
};
struct SplitScratch {
  std::vector<Lanes4> middles, aside;       // [slot] centre of a face's box, and the bits of the face's number
  std::vector<Lanes4> face_low, face_high;  // [face] its box; SplitRule::Middle only
  std::vector<WaitingRange> waiting;        // stack of ranges to split
};

struct SplitParams {
  SplitRule rule = SplitRule::Mean;
  std::uint32_t leaf_faces = kLeafFaces;  // 1  maximum number of faces in a leaf, >= 1
  bool share_vertices = false;            // list each vertex once per node: slower to build, faster to fit
};

// Builds the topology. positions: [vertex] x, y, z, 0, finite. A mesh without faces gives no nodes.
void build_topology(std::span<const Lanes4> positions, std::span<const glm::uvec3> faces, const SplitParams& params,
                    SplitScratch& scratch, TreeTopology& tree);

// The last steps of any build, from `slots`, `own` and `face_of_slot`: fills `skip`, then the data that a fit
// traverses.
void link_nodes(TreeTopology& tree);
void list_vertices(std::span<const glm::uvec3> faces, bool share, TreeTopology& tree);
// Arranges the vertices in the order of a fit, from `listed` in node order and the ranges `own_vertices` in it.
void arrange_vertices(TreeTopology& tree);

}  // namespace trocar
