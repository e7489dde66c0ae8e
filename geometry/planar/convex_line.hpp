// Intersects a line or a segment with a convex polygon in O(log n). The result is no common point, one corner, a whole
// side, or a chord. Source: document 004 (docs/planar.md), "Algorithme IGL" (Chazelle and Dobkin). We differ: the side
// of the line is not taken from the first corner (which may lie on it); a line along a side is distinguished from a
// line through one corner, and a line through corners from one that passes between them. Any unit; y up. Checked
// against study/planar/convex_scan.hpp in tests/geometry/planar_convex_test.cpp
#pragma once

#include "geometry/planar/convex_polygon.hpp"

namespace trocar::planar {

// Corner: the line touches one corner. Side: it runs along a side. Through: it passes through the inside.
enum class LineMeeting { None, Corner, Side, Through };

// The stretch of the line inside the polygon, in the direction of the line; enter == leave for Corner. `enter_side`
// and `leave_side` are the indices of the sides (of their first corners) where the inside stretch begins and ends.
struct LineHit {
  LineMeeting kind = LineMeeting::None;
  dvec2 enter{0.0}, leave{0.0};
  std::uint32_t enter_side = 0, leave_side = 0;
};

// Intersects the line through `line.a` and `line.b` with the polygon. Equal points do not define a line and give None.
// The kind is exact, the points are rounded.
LineHit line_hit(const ConvexView& polygon, const Segment& line);

// The stretch of a segment inside a polygon as parameters enter <= leave in [0, 1]. A segment of zero length is a
// point.
struct SegmentInside {
  bool meets = false;
  double enter = 0.0, leave = 0.0;  // 1
};

// Intersects a segment with the polygon. `meets` is exact, touching included.
SegmentInside segment_inside(const ConvexView& polygon, const Segment& segment);

}  // namespace trocar::planar
