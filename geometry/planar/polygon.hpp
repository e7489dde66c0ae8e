// Any polygon in the plane, as its corners in order: area, checks with a sentence for loaders, point inside.
// Source: seeds 001 III-D, crossing number. We differ: the ray is horizontal, a side counts from its lower end up to
// but not including its upper end, and the boundary is found exactly; so no far point is drawn, nothing restarts, and
// corners on the ray, sides along it and repeated corners are ordinary cases. Any unit; y up for "counter-clockwise".
// Checked against winding in 128-bit integers in tests/geometry/planar_polygon_test.cpp
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "geometry/planar/segment.hpp"

namespace trocar::planar {

// Corners in order, the last joined to the first. [corner]
using Corners = std::span<const dvec2>;

// Positive when counter-clockwise (y up). Measured from the first corner, so that far-away polygons lose nothing.
double signed_area(Corners polygon);

enum class Place { Outside, Boundary, Inside };

// Boundary is exact. Inside means an odd number of crossings, so a polygon that crosses itself has holes where it
// covers twice, as in the source. O(n). The corners must be finite.
Place place_in_polygon(Corners polygon, const dvec2& p);
// Inside or on the boundary.
inline bool polygon_contains(Corners polygon, const dvec2& p) { return place_in_polygon(polygon, p) != Place::Outside; }

// The numbers of the corners that differ from the corner before them: a corner repeated in a row is kept once.
std::vector<std::uint32_t> distinct_corners(Corners polygon);

// One sentence saying why this is not a simple polygon (finite, three different corners, an area, no side touching
// another except at their common corner), or empty. Corners repeated in a row and corners along a side are allowed.
// O(n^2): for loaders.
std::string simple_fault(Corners polygon);

// One sentence saying why this is not a convex polygon, of either orientation, or empty. Same allowances. O(n).
std::string convex_fault(Corners polygon);

}  // namespace trocar::planar
