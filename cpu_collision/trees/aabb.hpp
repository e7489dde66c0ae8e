// Defines the axis-aligned box as the volume of a tree.   Source: Bergeret 2000, section 4.5.4; van den Bergen 1997.
// Units: metres.   Tested in tests/study/trees_test.cpp
#pragma once

#include <limits>

#include "cpu_collision/convex_tool.hpp"
#include "cpu_collision/trees/volume_tree.hpp"

namespace trocar {

struct Aabb {
  Lanes4 low, high;  // m  x, y, z, 0

  template <class Points, class Kids>
  static void fit(Aabb& node, const Points& points, const Kids& children, Lanes4) {  // exact: needs no rounding
    Lanes4 low = lanes(std::numeric_limits<float>::max()), high = -low;
    points.each([&](Lanes4 p) { low = min(low, p), high = max(high, p); });
    children.each([&](const Aabb& child) { low = min(low, child.low), high = max(high, child.high); });
    node = {first_three(low), first_three(high)};
  }

  // The tool volume, prepared for tests against these boxes.
  struct Tool {
    const ConvexTool& convex;
    Lanes4 low, high;                       // m  box around the volume
    std::array<FourPlanes, 2> size;         // absolute values of the planes' normals
    explicit Tool(const ConvexTool& tool);  // `tool` must outlive it
  };
};

// Returns the box of all corners, grown by the tool's slack.
inline Aabb box_of(const ConvexTool& tool) {
  glm::dvec3 low(std::numeric_limits<double>::max()), high(-low);
  for (int i = 0; i < tool.corner_count; ++i)
    low = glm::min(low, tool.corners[i]), high = glm::max(high, tool.corners[i]);
  return {lanes(glm::vec3(low) - tool.slack), lanes(glm::vec3(high) + tool.slack)};
}

inline Aabb::Tool::Tool(const ConvexTool& tool) : convex(tool), low{}, high{} {
  const Aabb box = box_of(tool);
  low = box.low, high = box.high;
  for (int k = 0; k < 2; ++k) size[k] = {abs(tool.lanes[k].x), abs(tool.lanes[k].y), abs(tool.lanes[k].z), Lanes4{}};
}

// Lane 3 of every operand is 0 or ignored.
inline bool apart(Lanes4 low, Lanes4 high, Lanes4 other_low, Lanes4 other_high) {
  return negative_lanes(min(high - other_low, other_high - low)) & 7;
}

// Tests the box against the planes alone. The answers Outside and Inside are certain.
inline BoxAnswer planes_say(const Aabb::Tool& tool, Lanes4 low, Lanes4 high) {
  const Lanes4 centre = 0.5f * (low + high), half = 0.5f * (high - low);
  const Lanes4 middle = plane_distances(tool.convex.lanes[0], centre),
               radius = dot_rows(tool.size[0].x, tool.size[0].y, tool.size[0].z, half);
  if (negative_lanes(middle + radius)) return BoxAnswer::Outside;
  const Lanes4 middle2 = plane_distances(tool.convex.lanes[1], centre),
               radius2 = dot_rows(tool.size[1].x, tool.size[1].y, tool.size[1].z, half);
  if (negative_lanes(middle2 + radius2)) return BoxAnswer::Outside;
  const bool inside = !negative_lanes(min(middle - radius, middle2 - radius2) - lanes(2.f * tool.convex.slack));
  return inside ? BoxAnswer::Inside : BoxAnswer::Crosses;
}

// Tests the box against the volume's box, then the planes. The answers Outside and Inside are certain.
inline BoxAnswer meets(const Aabb::Tool& tool, const Aabb& box) {
  return apart(box.low, box.high, tool.low, tool.high) ? BoxAnswer::Outside : planes_say(tool, box.low, box.high);
}

inline bool overlap(const Aabb& a, const Aabb& b) { return !apart(a.low, a.high, b.low, b.high); }  // closed

inline bool crosses(const Aabb& box, const LinePart& line) {  // whether the line meets the box grown by its slack
  float first = line.first, last = line.last;
  return clip_by_slabs(line.from, line.along, box.low, box.high, line.slack, 3, first, last);
}

// Returns the lower bound of the distance from the point to anything inside the box, m.
inline float least_distance(const Aabb& box, Lanes4 point) {
  const Lanes4 outside = first_three(max(max(box.low - point, point - box.high), lanes(0.f)));
  return std::sqrt(sum(outside * outside));
}

// Returns the size by which a traversal of two trees chooses the node into which it descends.
inline float size_of(const Aabb& box) {
  const Lanes4 size = first_three(box.high - box.low);
  return sum(size * size);
}

}  // namespace trocar
