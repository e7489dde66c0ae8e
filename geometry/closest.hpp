// Computes closest points in double: of two segments, of a segment and a triangle, of two triangles, and of two convex
// hulls of few points; also the point where a line meets a triangle. Degenerate input is allowed.
// Source: Ericson, "Real-Time Collision Detection", 2005, 5.1. We differ: nearly parallel segments are solved with the
// cross product, and a triangle's interior is tested only once, at the only point that can be closest. Namespace
// closest is inline, for the inner loop of refine.cpp.
// Units: metres. Checked against sampling in tests/geometry/refine_test.cpp
#pragma once

#include <algorithm>
#include <glm/glm.hpp>
#include <limits>
#include <optional>
#include <span>

#include "geometry/mesh_view.hpp"

namespace trocar::closest {

using glm::dvec3;

// Below this squared sine the direct formula for two lines loses digits (5e-9 m where they touch). The cross product
// loses none.
constexpr double kNearlyParallel = 1e-6;
// A triangle whose height is at most this fraction of its longest side is degenerate: only its sides count, an error of
// at most 1e-8 of its size.
constexpr double kThinnestTriangle = 1e-8;

// p + u d, u in [0, 1]; d may be zero.
struct Segment {
  dvec3 p, d;
  double squared_length;
};

// Prepares a segment; both ends may be equal.
inline Segment segment(const dvec3& from, const dvec3& to) {
  const dvec3 d = to - from;
  return {from, d, glm::dot(d, d)};
}

// A prepared triangle: sides a -> b, b -> c, c -> a, and the normal ab x ac (not unit). squared_normal is 0 for a
// degenerate triangle.
struct Face {
  Segment side[3];
  dvec3 normal;
  double squared_normal;
};

// Prepares a triangle; it may be degenerate.
inline Face face(const Triangle& t) {
  Face made{{segment(t.a, t.b), segment(t.b, t.c), segment(t.c, t.a)}, glm::cross(t.b - t.a, t.c - t.a), 0.0};
  made.squared_normal = glm::dot(made.normal, made.normal);
  const double size = std::max({made.side[0].squared_length, made.side[1].squared_length, made.side[2].squared_length});
  if (made.squared_normal <= kThinnestTriangle * kThinnestTriangle * size * size) made.squared_normal = 0.0;
  return made;
}

struct SegmentPair {
  double u, v;     // parameters on first and second, in [0, 1]
  double squared;  // distance squared, m^2
};

inline double clamp01(double x) { return std::min(std::max(x, 0.0), 1.0); }  // the nearest number in 0 .. 1

// Returns the closest points of two segments, either of which may be a point.
inline SegmentPair closest_segments(const Segment& first, const Segment& second) {
  const dvec3 r = first.p - second.p;
  const double aa = first.squared_length, ee = second.squared_length;
  const double c = glm::dot(first.d, r), f = glm::dot(second.d, r), b = glm::dot(first.d, second.d);
  double u = 0.0, v = 0.0;
  if (aa > 0.0 && ee > 0.0) {
    const double sine = aa * ee - b * b;
    if (sine > kNearlyParallel * aa * ee) {
      u = clamp01((b * f - c * ee) / sine);
    } else {
      const dvec3 n = glm::cross(first.d, second.d);
      const double nn = glm::dot(n, n);
      u = nn > 0.0 ? clamp01(-glm::dot(glm::cross(r, second.d), n) / nn) : 0.0;
    }
    v = (b * u + f) / ee;
    if (v < 0.0) {
      v = 0.0;
      u = clamp01(-c / aa);
    } else if (v > 1.0) {
      v = 1.0;
      u = clamp01((b - c) / aa);
    }
  } else if (aa > 0.0) {
    u = clamp01(-c / aa);
  } else if (ee > 0.0) {
    v = clamp01(f / ee);
  }
  const dvec3 gap = r + u * first.d - v * second.d;
  return {u, v, glm::dot(gap, gap)};
}

// The point of a segment that is closest to a triangle's plane: the crossing, or the end nearer to the plane. `inside`
// is false when its projection lies outside the triangle; then the closest points lie on the triangle's sides.
struct InteriorPair {
  bool inside;
  double u;            // parameter on the segment
  double beta, gamma;  // the point of the triangle is a + beta (b - a) + gamma (c - a)
  double squared;      // m^2
};

// Computes this pair. For a degenerate triangle `inside` is false.
inline InteriorPair closest_interior(const Segment& axis, const Face& face) {
  if (face.squared_normal == 0.0) return {};
  const dvec3 from_a = axis.p - face.side[0].p;
  const double start = glm::dot(face.normal, from_a), end = start + glm::dot(face.normal, axis.d);
  const bool crosses = (start < 0.0) != (end < 0.0);
  const double u = crosses ? clamp01(start / (start - end)) : std::abs(start) <= std::abs(end) ? 0.0 : 1.0;
  const dvec3 w = from_a + u * axis.d, nw = glm::cross(face.normal, w);
  // gamma = n . (ab x w) = -ab . (n x w),  beta = n . (w x ac) = ac . (n x w)
  const double beta = -glm::dot(face.side[2].d, nw), gamma = -glm::dot(face.side[0].d, nw);
  const bool inside = beta >= 0.0 && gamma >= 0.0 && beta + gamma <= face.squared_normal;
  const double height = crosses ? 0.0 : std::min(std::abs(start), std::abs(end));
  const double scale = 1.0 / face.squared_normal;
  return {inside, u, beta * scale, gamma * scale, height * height * scale};
}

struct AxisPair {
  double u;        // parameter on the segment, in [0, 1]
  dvec3 on_face;   // m
  double squared;  // m^2
};

// Returns the closest points of a segment and a triangle, either of which may be degenerate.
inline AxisPair closest_axis_face(const Segment& axis, const Face& face) {
  const InteriorPair interior = closest_interior(axis, face);
  if (interior.inside) {
    const Segment &ab = face.side[0], &ca = face.side[2];
    return {interior.u, ab.p + interior.beta * ab.d - interior.gamma * ca.d, interior.squared};
  }
  SegmentPair best = closest_segments(axis, face.side[0]);
  int at = 0;
  for (int side = 1; side < 3; ++side) {
    const SegmentPair pair = closest_segments(axis, face.side[side]);
    if (pair.squared < best.squared) best = pair, at = side;
  }
  return {best.u, face.side[at].p + best.v * face.side[at].d, best.squared};
}

}  // namespace trocar::closest

namespace trocar {

struct ClosestPoints {
  glm::dvec3 on_first, on_second;  // m
  double distance;                 // m
};

// Returns the closest points of a segment (a point when both ends are equal) and a triangle (which may be degenerate).
ClosestPoints closest_segment_triangle(const glm::dvec3& p, const glm::dvec3& q, const Triangle& face);
// Returns the closest points of two triangles, either of which may be degenerate.
ClosestPoints closest_triangles(const Triangle& first, const Triangle& second);

// Source: the signed volumes of the line and the triangle's sides, after Segura and Feito, "Algorithms to test
// ray-triangle intersection", WSCG 2001. For a line in the triangle's plane, or a triangle without area, closest points
// decide instead.

// Returns the smallest t in [0, most] at which origin + t * direction lies on the closed triangle. `most` may be
// infinite.
// For a line in the triangle's plane the answer is the first common point.
std::optional<double> line_meets_triangle(const glm::dvec3& origin, const glm::dvec3& direction, double most,
                                          const Triangle& face);

// Convex hulls: the algorithm of Gilbert, Johnson and Keerthi (IEEE J. Robotics Autom. 4, 1988). We differ: the support
// points are found by a scan, because a part has few corners, and the result has a lower bound of the distance, which
// proves it to kDistanceError. Checked against the reference of triangle pairs in
// tests/cpu_collision/part_test.cpp

// The returned distance is at most this much too large, for hulls within 1 m of the first point of `first`.
constexpr double kDistanceError = 1e-9;  // m

struct HullDistance {
  glm::dvec3 on_first{0.0}, on_second{0.0};  // m   closest points; equal within kDistanceError when the hulls meet
  double distance = 0.0;                     // m   0 when the hulls share a point
};

// Both spans, [point] m, have at least one point; the points may coincide or lie in one line or plane. If the hulls are
// further apart than `range`, the search ends as soon as that is certain: `distance` is then only a lower bound above
// `range`, and the points are not the closest ones.
HullDistance hull_distance(std::span<const glm::dvec3> first, std::span<const glm::dvec3> second,
                           double range = std::numeric_limits<double>::infinity());

// Returns how far `point` must move along `direction` (unit) until it has left, for good, the points within `radius` of
// the hull, [point] m; 0 when this line never enters them ahead of the point, m.
double exit_distance(std::span<const glm::dvec3> hull, double radius, const glm::dvec3& point,
                     const glm::dvec3& direction);

}  // namespace trocar
