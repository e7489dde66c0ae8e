// Defines the oriented box as the volume of a tree. Its axes come from the build and stay fixed; a fit moves its sides.
// Inner boxes enclose their children's boxes, not all vertices below: one sweep over the nodes fits the tree.
// On a liver of 31,000 faces, with leaves of 8, a query then tests 1.8 times as many boxes, which takes 0.006 ms more,
// and the fit takes 2 ms less.   Source: Bergeret 2000, section 4.5.6.   Units: metres.   Tested in
// tests/cpu_collision/tree_test.cpp
#pragma once

#include <limits>

#include "cpu_collision/lanes.hpp"
#include "cpu_collision/trees/volume_tree.hpp"

namespace trocar {

// A box, its axes by coordinate so that lane k belongs to axis k; lane 3 is 0.
struct ObbNode {
  Lanes4 axis_x, axis_y, axis_z;  // unit axes
  Lanes4 extent;                  // m  half sides
  Lanes4 centre;                  // m  x, y, z, 0

  template <class Points, class Kids>
  static void fit(ObbNode& node, const Points& points, const Kids& children, Lanes4 rounding);  // m; the axes stay

  // The convex tool volume itself, see convex_tool.hpp.
  struct Tool;
};

// Makes the 15-axis test: returns true when no face normal and no pair of edges separates the boxes. By rounding, it
// may return true for separated boxes, never the reverse.
bool boxes_overlap(const ObbNode& a, const ObbNode& b);
inline bool overlap(const ObbNode& a, const ObbNode& b) { return boxes_overlap(a, b); }  // for tree_query.hpp

// Returns a box of zero size, with these axes.
inline ObbNode with_axes(const glm::vec3& a, const glm::vec3& b, const glm::vec3& c) {
  return {Lanes4{a.x, b.x, c.x}, Lanes4{a.y, b.y, c.y}, Lanes4{a.z, b.z, c.z}, Lanes4{}, Lanes4{}};
}

// Returns the projection of a point onto each axis of `frame`, by lane.
inline Lanes4 along_axes(const ObbNode& frame, Lanes4 point) {
  return dot_rows(frame.axis_x, frame.axis_y, frame.axis_z, point);
}

// Returns the half projection of a box onto each axis of `frame`, by lane.
inline Lanes4 half_shadow(const ObbNode& frame, const ObbNode& box) {
  const Lanes4 x = box.axis_x * box.extent, y = box.axis_y * box.extent, z = box.axis_z * box.extent;
  const Lanes4 a = frame.axis_x * splat<0>(x) + frame.axis_y * splat<0>(y) + frame.axis_z * splat<0>(z);
  const Lanes4 b = frame.axis_x * splat<1>(x) + frame.axis_y * splat<1>(y) + frame.axis_z * splat<1>(z);
  const Lanes4 c = frame.axis_x * splat<2>(x) + frame.axis_y * splat<2>(y) + frame.axis_z * splat<2>(z);
  return abs(a) + abs(b) + abs(c);
}

template <class Points, class Kids>
void ObbNode::fit(ObbNode& node, const Points& points, const Kids& children, Lanes4 rounding) {
  Lanes4 low = lanes(std::numeric_limits<float>::max()), high = -low;
  points.each([&](Lanes4 p) {
    const Lanes4 projected = along_axes(node, p);
    low = min(low, projected), high = max(high, projected);
  });
  children.each([&](const ObbNode& child) {
    const Lanes4 middle = along_axes(node, child.centre), half = half_shadow(node, child);
    low = min(low, middle - half), high = max(high, middle + half);
  });
  const Lanes4 middle = 0.5f * (low + high);
  node.centre = Lanes4{sum(middle * node.axis_x), sum(middle * node.axis_y), sum(middle * node.axis_z)};
  // Axes are orthogonal to float precision only: far from the origin the centre deviates from the middle.
  const Lanes4 beside = abs(along_axes(node, node.centre) - middle);
  node.extent = first_three(0.5f * (high - low) + rounding + beside);
}

inline bool crosses(const ObbNode& box, const LinePart& line) {  // whether the line meets the box grown by its slack
  float first = line.first, last = line.last;
  return clip_by_slabs(along_axes(box, line.from - box.centre), along_axes(box, line.along), -box.extent, box.extent,
                       line.slack, 3, first, last);
}

inline float least_distance(const ObbNode& box, Lanes4 point) {  // m, a lower bound; 0 inside
  const Lanes4 outside = max(abs(along_axes(box, point - box.centre)) - box.extent, lanes(0.f));
  return std::sqrt(sum(outside * outside));
}

// Returns the squared diagonal, m^2.
inline float size_of(const ObbNode& box) { return 4.f * sum(box.extent * box.extent); }

// Computes the principal axes of symmetric 3x3 matrices, four at a time and in closed form. They turn covariances into
// box axes. The code has no convergence loop and no branch, because a tree needs thousands of axes per frame. Based on:
// Smith, "Eigenvalues of a symmetric 3x3 matrix", CACM 1961, for the eigenvalue that stands apart; the other two axes
// come from one rotation about its axis, which stays well defined when their eigenvalues coincide.
struct SymmetricMatrices {
  Lanes4 xx, yy, zz, xy, xz, yz;  // lane k: matrix k
};

struct Vectors {
  Lanes4 x, y, z;
};

struct PrincipalAxes {
  Vectors a, b, c;  // unit, orthogonal, right-handed; a of the largest eigenvalue, c of the smallest
};

// A multiple of the identity, including 0, gives the world axes. Never fails: NaN gives arbitrary axes.
PrincipalAxes principal_axes(const SymmetricMatrices& matrices);

// Builds a tree of oriented boxes: the boxes' axes and the topology. Based on: Gottschalk, Lin, Manocha, "OBBTree",
// SIGGRAPH 1996, as in Bergeret 2000, section 4.5.6: axes from a covariance, split at the mean along the longest axis,
// each face on the side of its centroid. We differ: the covariance is that of the surface, each triangle weighted by
// its area, instead of that of the convex hull. It is equally independent of the meshing density, and needs no hull per
// node.

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

std::size_t memory_bytes(const ObbScratch& scratch);  // of its arrays

// Computes axes and topology of a new tree; its boxes are not yet fitted. Ignores the rule in `params`.
// positions: [vertex] x, y, z, 0.
void build_obb_tree(std::span<const Lanes4> positions, std::span<const glm::uvec3> faces, const SplitParams& params,
                    ObbScratch& scratch, ObbTree& tree);

}  // namespace trocar
