// Answers the queries of convex_polygon.hpp in O(n). The code shares only the exact signs with that
// file, for tests and measurements of growth. Below about 16 corners it is also faster.
// Sources: document 001 (docs/planar.md) III-C (half-planes). The gap is the distance of the origin from the difference
// of the two polygons, built by merging sides in order of angle. Any unit; y up.   Used in
// tests/geometry/planar_test.cpp
#pragma once

#include "geometry/planar/convex_polygon.hpp"

namespace trocar::planar {

// Returns whether the point lies left of or on every side; exact.
bool contains_by_scan(Corners convex, const dvec2& p);
FarCorners farthest_by_scan(Corners convex, const dvec2& direction);           // as farthest(); `direction` not 0
LineHit line_hit_by_scan(Corners convex, const Segment& line);                 // as line_hit(), without the sides
SegmentInside segment_inside_by_scan(Corners convex, const Segment& segment);  // as segment_inside()
// Does the same as convex_gap() in O(n + m). `meet` is rounded: it is correct unless the gap is below rounding error.
ConvexGap convex_gap_by_scan(Corners first, Corners second);

}  // namespace trocar::planar
