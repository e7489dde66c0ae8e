// Tests the oriented boxes of a tree against a tool, through the convex volume of convex_tool.hpp.
// Units: metres.   Tested in tests/study/tree_build_test.cpp
#pragma once

#include "cpu_collision/convex_tool.hpp"
#include "cpu_collision/trees/line_clip.hpp"

namespace trocar {

struct ObbNode::Tool {
  const ConvexTool& convex;
  explicit Tool(const ConvexTool& tool) : convex(tool) {}
};

inline BoxAnswer meets(const ObbNode::Tool& tool, const ObbNode& box) { return box_meets(tool.convex, box); }

inline bool overlap(const ObbNode& a, const ObbNode& b) { return boxes_overlap(a, b); }

inline bool crosses(const ObbNode& box, const LinePart& line) {
  float first = line.first, last = line.last;
  return clip_by_slabs(along_axes(box, line.from - box.centre), along_axes(box, line.along), -box.extent, box.extent,
                       line.slack, 3, first, last);
}

inline float least_distance(const ObbNode& box, Lanes4 point) {
  const Lanes4 outside = max(abs(along_axes(box, point - box.centre)) - box.extent, lanes(0.f));
  return std::sqrt(sum(outside * outside));
}

inline float size_of(const ObbNode& box) { return 4.f * sum(box.extent * box.extent); }

}  // namespace trocar
