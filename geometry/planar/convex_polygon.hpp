// Prepares a convex polygon once, for queries in O(log n): does it contain a point, which corner is farthest in a
// direction, where does a line meet it, how far is another convex polygon. Sources: documents 001 III-C (half-planes,
// O(n)) and 004 (bimodal search), docs/planar.md. We differ: a point is found by bisecting the fan of the first corner.
// Every decision is exact; the boundary is inside. Any unit; y up. Checked against study/planar/convex_scan.hpp in
// tests/geometry/planar_test.cpp
#pragma once

#include <array>
#include <cstddef>
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

  ConvexView view() const { return {corners_, axis_ends_}; }  // valid while this polygon lives
  Corners corners() const { return corners_; }                // likewise

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

// The largest value of a bimodal sequence in O(log n) comparisons. Bimodal: a cyclic shift of a sequence that strictly
// rises and then strictly falls. The two largest values may be equal, and so may the two smallest. Source: document
// 004, "Fonction bimodale" (Chazelle and Dobkin). We differ: the source cuts with the line through f(1) and f(n), which
// needs values and does not cover f(1) = f(n) and f(1) = f(2). We compare with the left end of the interval, which
// needs only an order, so exact comparisons suffice. With a longer plateau no method below O(n) works: the peak of 0 0
// 0 0 5 0 0 0 is found only by looking at every value.

// Returns the index of a largest element of 0 .. n-1, n >= 1. compare(i, j) is the sign of f(i) - f(j).
template <class Compare>
std::size_t bimodal_maximum(std::size_t n, const Compare& compare) {
  if (n == 1) return 0;
  if (n == 2) return compare(1, 0) > 0 ? 1 : 0;
  const auto rise = [&](std::size_t i) { return compare(i + 1 < n ? i + 1 : 0, i); };
  const auto is_peak = [&](std::size_t i, int rise_after) {
    return rise_after <= 0 && compare(i, i > 0 ? i - 1 : n - 1) >= 0;
  };
  std::size_t low = 0, high = n;  // a peak lies in low < peak < high
  bool low_rises = rise(0) >= 0;
  if (is_peak(0, rise(0))) return 0;
  while (true) {
    const std::size_t middle = low + (high - low) / 2;
    const int rise_here = rise(middle);
    if (middle == low || is_peak(middle, rise_here)) return middle;
    const bool rises = rise_here >= 0;
    const bool keep_left =
        low_rises == rises ? (rises ? compare(low, middle) > 0 : compare(low, middle) < 0) : low_rises;
    if (keep_left) {
      high = middle;
    } else {
      low = middle;
      low_rises = rises;
    }
  }
}

// Returns the index of a smallest element.
template <class Compare>
std::size_t bimodal_minimum(std::size_t n, const Compare& compare) {
  return bimodal_maximum(n, [&](std::size_t i, std::size_t j) { return -compare(i, j); });
}

// Line or segment: document 004, "Algorithme IGL" (Chazelle and Dobkin). We differ: the side of the line is not taken
// from the first corner (which may lie on it); a line along a side is distinguished from a line through one corner, and
// a line through corners from one that passes between them.

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

// Two convex polygons in O(log n + log m): document 004, "Algorithme IGG" and "élimination binaire"; Edelsbrunner,
// "Computing the extreme distances between two convex polygons", 1985. We differ: sides are compared, not corners.
// First the quadrant of the nearest pair's direction is found. Within it, given the middle sides of both polygons, at
// least one of these sides can always be dropped together with all sides beyond it, so the source's special cases of
// short chains and of lines through a polygon do not arise. The neighbours of the pair found then prove it nearest.
// Proof: docs/planar.md.

// meet: the closed polygons share a point (touching included, exact); then distance is 0 and the points are unset.
// Otherwise the points are a nearest pair; between two parallel sides there are many such pairs.
struct ConvexGap {
  bool meet = true;
  double distance = 0.0;
  dvec2 on_first{0.0}, on_second{0.0};
};

// Computes the gap. Either view may be a point or a segment (one or two different corners).
ConvexGap convex_gap(const ConvexView& first, const ConvexView& second);

// Returns whether two convex polygons meet, touching included: exact.
inline bool convex_meet(const ConvexView& first, const ConvexView& second) { return convex_gap(first, second).meet; }

}  // namespace trocar::planar
