// Defines the QuOSPO as the volume of a tree: slabs across three directions near the principal axes of the faces below,
// taken
// from a fixed table of directions, and the axis-aligned box. Based on: He, "Fast collision detection using QuOSPO
// trees", I3D 1999, as section 4.5.9 of the thesis outlines it: as tight as an oriented box, but with few
// orientations, so that the other object's extent along each is computed once. The outline does not define the table;
// ours holds the points of a grid on the faces of a cube.
// Units: metres.   Tested in tests/study/tree_build_test.cpp
#pragma once

#include <array>

#include "cpu_collision/trees/aabb.hpp"
#include "cpu_collision/trees/obb.hpp"

namespace trocar {

// Grid steps from the middle of a cube's face to its edge: every direction is within 5.1 degrees of one of the table.
constexpr int kQuantisedSteps = 8;
constexpr int kQuantisedPerFace = (2 * kQuantisedSteps + 1) * (2 * kQuantisedSteps + 1);
constexpr int kQuantisedDirections = 3 * kQuantisedPerFace;  // opposite directions count as one

int nearest_quantised(const glm::vec3& direction);
glm::vec3 quantised_direction(int number);  // unit

struct Quospo {
  Lanes4 low, high;                     // m  box along the world's axes: x, y, z, 0
  Lanes4 slab_low, slab_high;           // m  along the three directions, by lane; lane 3 is 0
  Lanes4 normal_x, normal_y, normal_z;  // 1  the directions by coordinate, lane k that of slab k
  Lanes4 edge_x, edge_y, edge_z;  // 1  dual basis by coordinate: a point is the sum of its slab values times these
  std::array<std::uint16_t, 3> direction;  // indices into the table

  template <class Points, class Kids>
  static void fit(Quospo& node, const Points& points, const Kids& children, Lanes4 rounding);

  struct Tool {
    Aabb::Tool box;
    explicit Tool(const ConvexTool& tool) : box(tool), known{} {}
    // Gives the extent of the tool volume along a direction of the table; computes it at the first request.
    void extent(int direction, float& from, float& to) const;

   private:
    mutable std::array<float, kQuantisedDirections> low, high;  // m
    mutable std::array<bool, kQuantisedDirections> known;
  };
};

// Returns a QuOSPO of zero size with directions near the axes of `box`.
Quospo quantised(const ObbNode& box);

// Centre of the parallelepiped of the slabs, and its half edges; below, its half projection on four directions.
struct SlabBox {
  Lanes4 centre;                  // m
  Lanes4 edge_x, edge_y, edge_z;  // m  half edges by coordinate, lane k that of slab k
};
inline SlabBox slab_box(const Quospo& q) {
  const Lanes4 middle = 0.5f * (q.slab_low + q.slab_high), half = 0.5f * (q.slab_high - q.slab_low);
  return {Lanes4{sum(middle * q.edge_x), sum(middle * q.edge_y), sum(middle * q.edge_z), 0.f}, q.edge_x * half,
          q.edge_y * half, q.edge_z * half};
}
inline Lanes4 half_shadow(const SlabBox& box, Lanes4 x, Lanes4 y, Lanes4 z) {
  return abs(x * splat<0>(box.edge_x) + y * splat<0>(box.edge_y) + z * splat<0>(box.edge_z)) +
         abs(x * splat<1>(box.edge_x) + y * splat<1>(box.edge_y) + z * splat<1>(box.edge_z)) +
         abs(x * splat<2>(box.edge_x) + y * splat<2>(box.edge_y) + z * splat<2>(box.edge_z));
}

template <class Points, class Kids>
void Quospo::fit(Quospo& node, const Points& points, const Kids& children, Lanes4 rounding) {
  const Lanes4 most = lanes(std::numeric_limits<float>::max());
  Lanes4 low = most, high = -most, slab_low = most, slab_high = -most;
  points.each([&](Lanes4 p) {
    low = min(low, p), high = max(high, p);
    const Lanes4 projected = dot_rows(node.normal_x, node.normal_y, node.normal_z, p);
    slab_low = min(slab_low, projected), slab_high = max(slab_high, projected);
  });
  children.each([&](const Quospo& child) {
    low = min(low, child.low), high = max(high, child.high);
    const SlabBox box = slab_box(child);
    const Lanes4 middle = dot_rows(node.normal_x, node.normal_y, node.normal_z, box.centre);
    const Lanes4 half = half_shadow(box, node.normal_x, node.normal_y, node.normal_z);
    // The child's axis-aligned box bounds it too.
    const Lanes4 world_middle = dot_rows(node.normal_x, node.normal_y, node.normal_z, 0.5f * (child.low + child.high));
    const Lanes4 world_half =
        dot_rows(abs(node.normal_x), abs(node.normal_y), abs(node.normal_z), 0.5f * (child.high - child.low));
    slab_low = min(slab_low, max(middle - half, world_middle - world_half));
    slab_high = max(slab_high, min(middle + half, world_middle + world_half));
  });
  node.low = first_three(low), node.high = first_three(high);
  node.slab_low = first_three(slab_low - rounding), node.slab_high = first_three(slab_high + rounding);
}

inline BoxAnswer meets(const Quospo::Tool& tool, const Quospo& q) {
  if (apart(q.low, q.high, tool.box.low, tool.box.high)) return BoxAnswer::Outside;
  const ConvexTool& convex = tool.box.convex;
  const SlabBox box = slab_box(q);
  const Lanes4 middle = plane_distances(convex.lanes[0], box.centre),
               middle2 = plane_distances(convex.lanes[1], box.centre);
  const Lanes4 half = half_shadow(box, convex.lanes[0].x, convex.lanes[0].y, convex.lanes[0].z);
  const Lanes4 half2 = half_shadow(box, convex.lanes[1].x, convex.lanes[1].y, convex.lanes[1].z);
  if (negative_lanes(min(middle + half, middle2 + half2))) return BoxAnswer::Outside;
  if (!negative_lanes(min(middle - half, middle2 - half2) - lanes(2.f * convex.slack))) return BoxAnswer::Inside;
  for (int k = 0; k < 3; ++k) {
    float from, to;
    tool.extent(q.direction[k], from, to);
    if (q.slab_low[k] > to || q.slab_high[k] < from) return BoxAnswer::Outside;
  }
  return planes_say(tool.box, q.low, q.high);
}

// Returns true when `other` is separated from `frame` along one of the directions of `frame`.
inline bool apart_along(const Quospo& frame, const SlabBox& other) {
  const Lanes4 middle = dot_rows(frame.normal_x, frame.normal_y, frame.normal_z, other.centre);
  const Lanes4 half = half_shadow(other, frame.normal_x, frame.normal_y, frame.normal_z);
  return apart(frame.slab_low, frame.slab_high, middle - half, middle + half);
}

inline bool overlap(const Quospo& a, const Quospo& b) {
  if (apart(a.low, a.high, b.low, b.high)) return false;
  return !apart_along(a, slab_box(b)) && !apart_along(b, slab_box(a));
}

inline bool crosses(const Quospo& q, const LinePart& line) {
  float first = line.first, last = line.last;
  return clip_by_slabs(line.from, line.along, q.low, q.high, line.slack, 3, first, last) &&
         clip_by_slabs(dot_rows(q.normal_x, q.normal_y, q.normal_z, line.from),
                       dot_rows(q.normal_x, q.normal_y, q.normal_z, line.along), q.slab_low, q.slab_high, line.slack, 3,
                       first, last);
}

inline float least_distance(const Quospo& q, Lanes4 point) {
  const Lanes4 projected = dot_rows(q.normal_x, q.normal_y, q.normal_z, point);
  const Lanes4 outside = max(q.slab_low - projected, projected - q.slab_high);
  return std::fmax(least_distance(Aabb{q.low, q.high}, point),
                   std::fmax(outside[0], std::fmax(outside[1], outside[2])));
}

inline float size_of(const Quospo& q) {
  const Lanes4 size = q.slab_high - q.slab_low;
  return sum(size * size);
}

}  // namespace trocar
