// Defines a tree of bounding volumes over the faces of a mesh, once for every kind of volume. It stores the faces below
// each node (the topology, made by a split rule) and a volume around each node's faces (fitted from the leaves up). A
// node has any number of children; it holds faces of its own when a split leaves faces that straddle its parts. Based
// on:
// Bergeret 2000, section 4.5 (top-down build, bottom-up refit, cost formula); van den Bergen, "Efficient collision
// detection of complex deformable models using AABB trees", 1997 (refit). We differ: leaves hold a few faces. Arrays:
// positions [vertex], faces [face]. Units: metres.   Tested in tests/study/trees_test.cpp
#pragma once

#include <cstdint>
#include <cstring>
#include <glm/glm.hpp>
#include <limits>
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

  std::uint32_t node_count() const { return static_cast<std::uint32_t>(skip.size()); }  // inner nodes and leaves
  bool is_leaf(std::uint32_t node) const { return skip[node] == node + 1; }             // no children
};

std::size_t memory_bytes(const TreeTopology& topology);  // of its arrays

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
void list_vertices(std::span<const glm::uvec3> faces, bool share, TreeTopology& tree);  // share: as SplitParams
// Arranges the vertices in the order of a fit, from `listed` in node order and the ranges `own_vertices` in it.
void arrange_vertices(TreeTopology& tree);

// Stores vertex positions with padding behind the last, so that a vertex can be read as four floats.
class PaddedPositions {
 public:
  PaddedPositions() : room_(1) {}                                                        // no positions
  explicit PaddedPositions(std::span<const glm::vec3> positions) { assign(positions); }  // [vertex] m

  // Copies the positions, [vertex] m. Allocates only when there are more positions than in all earlier calls.
  void assign(std::span<const glm::vec3> positions);
  // Returns x, y, z, and an undefined fourth lane.
  Lanes4 operator[](std::uint32_t vertex) const {
    Lanes4 four;
    std::memcpy(&four, &room_[vertex], sizeof(four));
    return four;
  }
  std::span<const glm::vec3> view() const { return {room_.data(), count_}; }  // [vertex] m; until the next assign()
  std::size_t memory_bytes() const { return room_.capacity() * sizeof(glm::vec3); }  // with the padding

 private:
  std::vector<glm::vec3> room_;  // [vertex + 1] m
  std::size_t count_ = 0;
};

// Returns the largest absolute coordinate, m; 0 without positions [vertex].
float reach_of(std::span<const glm::vec3> positions);

// Fits the volumes of a tree around the positions, children before their parents: O(nodes). The same loops serve every
// kind of volume; a kind defines how one volume is fitted around points and children: template <class Points, class
// Kids> static void fit(Volume& node, Points, Kids, Lanes4 rounding); Leaves come first, grouped by their number of
// vertices, then the inner nodes, so that branches are predictable. On a liver of 30,000 faces that takes half the time
// of one loop over all nodes. Source: van den Bergen 1997, as in Bergeret 2000, section 4.5.4.

// Rounding of axes and of sums in float, as a part of the largest coordinate; volumes grow by it so that they contain
// their faces.
constexpr float kFitRounding = 1e-6f;

// Vertices of faces: x, y, z, and an undefined fourth lane. `after`: their end positions, for a volume around a motion;
// may be null.
struct OwnPoints {
  const PaddedPositions &positions, *after;
  std::span<const std::uint32_t> vertices;

  template <class Visit>
  void each(Visit visit) const {  // the end positions follow the start positions
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
  void each(Visit visit) const {  // visit(child's volume)
    for (std::uint32_t c = node + 1; c != tree.skip[node]; c = tree.skip[c]) visit(tree.nodes[c]);
  }
};

struct None {
  template <class Visit>
  void each(Visit) const {}  // visits nothing
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
  void each(Visit visit) const {  // a vertex once per face
    for (const std::uint32_t face : below)
      for (int k = 0; k < 3; ++k) visit(positions[faces[face][k]]);
  }
};

// Fits every volume around the faces below it instead of around its children's volumes, in O(faces x depth). The
// volumes are tighter for kinds whose volumes do not nest, and equal for axis-aligned boxes.
template <class Volume>
void fit_tightly(const PaddedPositions& positions, std::span<const glm::uvec3> faces, float largest,
                 VolumeTree<Volume>& tree) {  // largest: m, largest coordinate
  for (std::uint32_t node = 0; node < tree.node_count(); ++node) {
    const auto below = std::span(tree.face_of_slot).subspan(tree.slots[node].first, tree.slots[node].count);
    Volume::fit(tree.nodes[node], FacePoints{positions, faces, below}, None{}, lanes(kFitRounding * largest));
  }
}

// Clips a part of a straight line by slabs. Boxes of every kind are tested in this way against segments and rays.
// Source: Kay, Kajiya, "Ray tracing complex scenes", SIGGRAPH 1986.

// The points from + t * along with t in [first, last].
struct LinePart {
  Lanes4 from, along;  // m  x, y, z, 0
  float first = 0.f, last = 1.f;
  float slack = 0.f;  // m  rounding of the float tests: volumes grow by this
};

inline LinePart segment_between(const glm::vec3& a, const glm::vec3& b, float slack) {  // m; t = 0 at a, 1 at b
  return {lanes(a), lanes(b - a), 0.f, 1.f, slack};
}
inline LinePart ray_from(const glm::vec3& a, const glm::vec3& direction, float slack) {  // m; t >= 0 from a
  return {lanes(a), lanes(direction), 0.f, std::numeric_limits<float>::infinity(), slack};
}

// Returns whether a point of the part lies in all slabs low <= s(t) <= high, s(t) = from + t * along, of the first
// `count` lanes. Clips `first` and `last` to the slabs. Slabs are wider by the slack, so the answer may be true for a
// line that passes that close.
inline bool clip_by_slabs(Lanes4 from, Lanes4 along, Lanes4 low, Lanes4 high, float slack, int count, float& first,
                          float& last) {
  for (int k = 0; k < count; ++k) {
    const float below = low[k] - slack - from[k], above = high[k] + slack - from[k];
    if (along[k] > 0.f || along[k] < 0.f) {
      const float t0 = below / along[k], t1 = above / along[k];
      first = std::fmax(first, std::fmin(t0, t1));
      last = std::fmin(last, std::fmax(t0, t1));
    } else if (below > 0.f || above < 0.f) {
      return false;
    }
  }
  return first <= last;
}

}  // namespace trocar
