// Decides in O(log n + log m) whether two convex polygons meet, and if not, computes their distance and a nearest pair
// of points. Sources: document 004 (docs/planar.md), "Algorithme IGG" and "élimination binaire"; Edelsbrunner,
// "Computing the extreme distances between two convex polygons", 1985. We differ: sides are compared, not corners.
// First the quadrant of the nearest pair's direction is found. Within it, given the middle sides of both polygons, at
// least one of these sides can always be dropped together with all sides beyond it, so the source's special cases of
// short chains and of lines through a polygon do not arise. The neighbours of the pair found then prove it nearest.
// Proof: docs/planar.md. Any unit; y up. Checked against all pairs of sides in tests/geometry/planar_gap_test.cpp
#pragma once

#include "geometry/planar/convex_polygon.hpp"

namespace trocar::planar {

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
