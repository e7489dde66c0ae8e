// A tree of bounding volumes over the faces of a mesh, written once for every kind of volume: which faces lie below
// each node (the topology, made by a split rule) and a volume around each node's faces (fitted from the leaves up). A
// node of any number of children; faces of its own, too, where a split leaves straddling faces behind. Based on:
// section 4.5 of the thesis (top-down build, bottom-up refit, cost formula); van den Bergen, "Efficient collision
// detection of complex deformable models using AABB trees", 1997 (refit). We differ: leaves hold a few faces. Units:
// metres.   Tested in tests/cpu_collision/tree_build_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "cpu_collision/lanes.hpp"

namespace trocar {

// Leaves of up to this many faces. Refitting and asking about a tool, a liver of 31,000 faces takes 84, 67, 57 and 55
// microseconds with 8, 16, 32 and 48; pairs of trees, lines and points want fewer.
constexpr std::uint32_t kLeafFaces = 16;

struct IndexRange {
  std::uint32_t first = 0, count = 0;
};

// Leaves that follow each other in TreeTopology::leaves and have equally many vertices.
struct LeafGroup {
  std::uint32_t leaves, vertices;
};

struct TreeTopology {
  std::vector<std::uint32_t> skip;          // [node] in preorder: the node after its subtree; node + 1 for a leaf
  std::vector<IndexRange> slots;            // [node] into face_of_slot: the faces below it, its own first
  std::vector<std::uint32_t> own;           // [node] how many of them are its own; all, in a leaf
  std::vector<std::uint32_t> face_of_slot;  // [slot]
  // What a fit goes through.
  std::vector<IndexRange> own_vertices;  // [node] into vertices: corners of its own faces
  std::vector<std::uint32_t> vertices;   // [own vertex] the leaves' first, in the order of `leaves`
  std::vector<std::uint32_t> leaves;     // [leaf] their nodes, by group
  std::vector<LeafGroup> leaf_groups;
  std::vector<std::uint32_t> inner;   // nodes with children, children before their parents
  std::vector<std::uint32_t> listed;  // room for the build

  std::uint32_t node_count() const { return static_cast<std::uint32_t>(skip.size()); }
  bool is_leaf(std::uint32_t node) const { return skip[node] == node + 1; }
};

std::size_t memory_bytes(const TreeTopology& topology);

template <class Volume>
struct VolumeTree : TreeTopology {
  std::vector<Volume> nodes;  // [node]
};

// Where a node's faces part. A face is where the middle of its own box is.
enum class SplitRule {
  Median,  // as many on either side, across the longest side of their middles' box
  Mean,    // at the mean of their middles, across the longest side
  Middle,  // halves of the node's box, across x, y, z by turns; a face that straddles the middle stays in the node
  Octree   // eight equal octants of the root's box, again and again
};

// What a build works on; kept between builds so that none allocates once warm.
struct WaitingRange {
  IndexRange slots;
  int depth;
  Lanes4 low, high;  // m  octant; of SplitRule::Octree alone
};
struct SplitScratch {
  std::vector<Lanes4> middles, aside;       // [slot] middle of a face's box, and the bits of the face's number
  std::vector<Lanes4> face_low, face_high;  // [face] its box; of SplitRule::Middle alone
  std::vector<WaitingRange> waiting;        // to be split, the next last
};

struct SplitParams {
  SplitRule rule = SplitRule::Mean;
  std::uint32_t leaf_faces = kLeafFaces;  // 1  leaves of up to this many, >= 1
  bool share_vertices = false;            // list each vertex once per node: slower to build, faster to fit
};

// positions: [vertex] x, y, z, 0, finite. No face: no node.
void build_topology(std::span<const Lanes4> positions, std::span<const glm::uvec3> faces, const SplitParams& params,
                    SplitScratch& scratch, TreeTopology& tree);

// The last steps of any build, from `slots`, `own` and `face_of_slot`: `skip`, then what a fit goes through.
void link_nodes(TreeTopology& tree);
void list_vertices(std::span<const glm::uvec3> faces, bool share, TreeTopology& tree);

}  // namespace trocar
