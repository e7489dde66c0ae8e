// Two convex polygons in O(log n + log m): do they meet, and if not, how far apart, and where.
// Sources: seeds 004, "Algorithme IGG" and "élimination binaire"; Edelsbrunner, "Computing the extreme distances
// between two convex polygons", 1985. We differ: sides are compared, not corners. The nearest pair's direction is first
// placed in one quadrant; there, of a middle side of each polygon, at least one and all beyond it can always be
// dropped, so that the source's cases of short chains and of lines through a polygon do not arise. The pair found is
// then proved nearest by its neighbours. Why it is right: docs/planar.md. Any unit; y up. Checked against all pairs of
// sides in tests/geometry/planar_gap_test.cpp
#pragma once

#include "geometry/planar/convex_polygon.hpp"

namespace trocar::planar {

// meet: the closed polygons share a point (touching included, exact); then distance is 0 and the points are unset.
// Otherwise a nearest pair; where two parallel sides face each other it is one of many.
struct ConvexGap {
  bool meet = true;
  double distance = 0.0;
  dvec2 on_first{0.0}, on_second{0.0};
};

// Points and segments (views of one and two different corners) are welcome on either side.
ConvexGap convex_gap(const ConvexView& first, const ConvexView& second);

// Whether two convex polygons meet, touching included: exact.
inline bool convex_meet(const ConvexView& first, const ConvexView& second) { return convex_gap(first, second).meet; }

}  // namespace trocar::planar
