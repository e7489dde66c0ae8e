// Prepares a convex polygon once, for two queries in O(log n): does it contain a point, and which corner is farthest in
// a direction.
// Sources: documents 001 III-C (half-planes, O(n)) and 004 (bimodal search), docs/planar.md. We differ: a point is
// found by bisecting the fan of the first corner. Every decision is exact; the boundary is inside. Any unit; y up.
// Checked against study/planar/convex_scan.hpp in tests/geometry/planar_convex_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "geometry/planar/polygon.hpp"

namespace trocar::planar {

// The directions of ConvexView::axis_ends.
constexpr std::array<dvec2, 4> kAxisDirections{{{1.0, 0.0}, {0.0, 1.0}, {-1.0, 0.0}, {0.0, -1.0}}};

// The farthest corners in one direction: one corner (first == last), or the two ends of a side, counter-clockwise.
struct FarCorners {
  std::uint32_t first = 0, last = 0;
};

// The data that queries read: the corners, counter-clockwise and strictly convex, and the farthest corners towards +x,
// +y, -x, -y. One corner is a point, two are a segment; a query accepts these only if its comment says so.
struct ConvexView {
  Corners corners;                        // [corner]
  std::array<FarCorners, 4> axis_ends{};  // [+x, +y, -x, -y]
};

// Finds the axis ends in O(n). The corners must already be counter-clockwise and strictly convex.
ConvexView convex_view(Corners strictly_convex);

// Owns its corners: counter-clockwise, none repeated, none along a side.
class ConvexPolygon {
 public:
  // Accepts either orientation; drops repeated corners and corners along a side. Throws InputError with the sentence of
  // convex_fault().
  explicit ConvexPolygon(Corners polygon);

  ConvexView view() const { return {corners_, axis_ends_}; }
  Corners corners() const { return corners_; }

 private:
  std::vector<dvec2> corners_;
  std::array<FarCorners, 4> axis_ends_;
};

// Returns whether the point lies inside or on the boundary, exactly. O(log n). The polygon needs at least three
// corners.
bool contains(const ConvexView& polygon, const dvec2& p);

// Returns the corners farthest along `direction`, exactly; a zero direction gives any corner. O(log n). The polygon
// needs at least three corners.
FarCorners farthest(const ConvexView& polygon, const dvec2& direction);

// Returns the corners farthest to the left of the line a -> b, exactly: no rounded normal is formed. O(log n).
FarCorners farthest_left(const ConvexView& polygon, const dvec2& a, const dvec2& b);

}  // namespace trocar::planar
