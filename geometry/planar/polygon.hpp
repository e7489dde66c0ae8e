// Segments and polygons in the plane: nearest points and intersections of segments; area, faults and location of points
// of any polygon; triangulation and convex pieces of a simple one. All degenerate cases are handled. Any unit; y up for
// "counter-clockwise". Checked against 128-bit integers and on random polygons in tests/geometry/planar_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "geometry/exact_sign.hpp"

namespace trocar::planar {

// a == b is a point.
struct Segment {
  dvec2 a{0.0}, b{0.0};
};

inline dvec2 point_at(const Segment& s, double parameter) { return s.a + parameter * (s.b - s.a); }  // 0: a, 1: b

// Returns the parameter in [0, 1] of the segment's point nearest to `p`; 0 for a segment of zero length.
double nearest_parameter(const Segment& s, const dvec2& p);
dvec2 nearest_point(const Segment& s, const dvec2& p);  // of the segment
double distance(const Segment& s, const dvec2& p);      // of `p` from the closed segment

// Returns whether `p` is a point of the closed segment; exact.
bool on_segment(const Segment& s, const dvec2& p);

enum class SegmentMeeting { None, Point, Overlap };

// Where two closed segments meet. For Point: parameter_first and parameter_second in [0, 1], from == to. For Overlap:
// the common stretch from -> to, in the direction of the first segment; the parameters are those of `from`.
struct SegmentHit {
  SegmentMeeting kind = SegmentMeeting::None;
  double parameter_first = 0.0, parameter_second = 0.0;  // 1
  dvec2 from{0.0}, to{0.0};
};

// Intersects two closed segments. The kind is exact. Parameters and points are rounded; those of nearly parallel
// segments are ill-conditioned.
SegmentHit meet(const Segment& first, const Segment& second);
// Returns only whether the closed segments share a point; exact.
bool segments_meet(const Segment& first, const Segment& second);

// Returns the distance of two segments; 0 when they meet.
double distance(const Segment& first, const Segment& second);

// Polygons, given by their corners in order. Location: document 001 (docs/planar.md) III-D, crossing number. We differ:
// the ray is horizontal, a side includes its lower end but not its upper end, and the boundary is found exactly. So no
// random far point is needed, nothing is repeated, and corners on the ray, sides along it and repeated corners are
// ordinary cases.

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

// Returns the indices of the corners that differ from their predecessor: a repeated corner is kept once. [kept corner]
std::vector<std::uint32_t> distinct_corners(Corners polygon);

// Returns one sentence that says why this is not a simple polygon, or an empty text. A simple polygon has finite
// coordinates, three different corners, an area, and sides that touch only at their common corner. Repeated corners and
// corners along a side are allowed. The cost is O(n^2): for loaders.
std::string simple_fault(Corners polygon);

// Returns one sentence that says why this is not a convex polygon of either orientation, or an empty text. Repeated
// corners and corners along a side are allowed here, too. O(n).
std::string convex_fault(Corners polygon);

// Triangles by ear clipping, convex pieces after Hertel and Mehlhorn, "Fast triangulation of the plane with respect to
// simple polygons", 1985. Source of the ears: document 001 (docs/planar.md) III-A-2, "De non convexe à convexe". We
// differ: an ear must turn inward and contain no other corner; the source asks only for the turn, and then cuts across
// the outside (counterexample in docs/planar.md).

using CornerTriangle = std::array<std::uint32_t, 3>;  // corner indices, counter-clockwise

// Returns n - 2 triangles that cover the polygon once; there is one fewer for each repeated corner and for each corner
// that lies on a straight side while ears are cut. Accepts either orientation. Throws InputError with the sentence of
// simple_fault().
// O(n^2) for hand-drawn outlines, O(n^3) at worst. [triangle]
std::vector<CornerTriangle> triangulate(Corners polygon);

// Pieces as runs of corner indices, counter-clockwise: piece i is corner[start[i]] .. corner[start[i + 1] - 1].
struct ConvexPieces {
  std::vector<std::uint32_t> corner;  // [all pieces' corners]
  std::vector<std::uint32_t> start;   // [piece + 1]

  std::size_t count() const { return start.size() - 1; }  // pieces; `start` is not empty
};

// Returns convex pieces that cover the polygon once: removes from the triangulation every diagonal that convexity does
// not need. There are at most 2 r + 1 pieces for r reflex corners, so at most four times the minimum. A piece may have
// corners along a side. Throws the same errors as triangulate().
ConvexPieces convex_pieces(Corners polygon);

}  // namespace trocar::planar
