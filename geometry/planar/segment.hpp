// Computes nearest point, distance and intersection of segments in the plane. Handles all degenerate cases.
// Source: document 001 (docs/planar.md) V, "Segment segment". We differ: whether two segments meet is decided exactly
// and includes ends that touch and segments that overlap on one line; the source excludes both. Any unit. Checked
// against 128-bit integers in tests/geometry/planar_segment_test.cpp
#pragma once

#include "geometry/planar/exact_sign.hpp"

namespace trocar::planar {

// a == b is a point.
struct Segment {
  dvec2 a{0.0}, b{0.0};
};

inline dvec2 point_at(const Segment& s, double parameter) { return s.a + parameter * (s.b - s.a); }

// Returns the parameter in [0, 1] of the segment's point nearest to `p`; 0 for a segment of zero length.
double nearest_parameter(const Segment& s, const dvec2& p);
dvec2 nearest_point(const Segment& s, const dvec2& p);
double distance(const Segment& s, const dvec2& p);

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

}  // namespace trocar::planar
