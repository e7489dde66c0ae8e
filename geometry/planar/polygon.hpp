// Computes the area of any polygon in the plane, given by its corners in order; checks the polygon, with a sentence for
// each fault; and decides whether it contains a point. Source: document 001 (docs/planar.md) III-D, crossing number. We
// differ: the ray is horizontal, a side includes its lower end but not its upper end, and the boundary is found
// exactly. So no random far point is needed, nothing is repeated, and corners on the ray, sides along it and repeated
// corners are ordinary cases. Any unit; y up for "counter-clockwise".
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

// Returns the area, positive when the corners are counter-clockwise (y up). It is measured from the first corner, so
// that it stays precise for polygons far from the origin.
double signed_area(Corners polygon);

enum class Location { Outside, Boundary, Inside };

// Decides where the point lies. Boundary is exact. Inside means an odd number of crossings: where a self-crossing
// polygon covers a point twice, the point is outside, as in the source. O(n). The corners must be finite.
Location locate_in_polygon(Corners polygon, const dvec2& p);
// Returns whether the point lies inside or on the boundary.
inline bool polygon_contains(Corners polygon, const dvec2& p) {
  return locate_in_polygon(polygon, p) != Location::Outside;
}

// Returns the indices of the corners that differ from their predecessor: a repeated corner is kept once.
std::vector<std::uint32_t> distinct_corners(Corners polygon);

// Returns one sentence that says why this is not a simple polygon, or an empty text. A simple polygon has finite
// coordinates, three different corners, an area, and sides that touch only at their common corner. Repeated corners and
// corners along a side are allowed. The cost is O(n^2): for loaders.
std::string simple_fault(Corners polygon);

// Returns one sentence that says why this is not a convex polygon of either orientation, or an empty text. Repeated
// corners and corners along a side are allowed here, too. O(n).
std::string convex_fault(Corners polygon);

}  // namespace trocar::planar
