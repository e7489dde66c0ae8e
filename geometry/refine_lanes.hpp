// Computes the closest points of closest.hpp for four faces side by side, without branches between them. Only
// refine_four.hpp uses this file. It is compiled once per instruction set, so nothing here has linkage, and everything
// is inlined. Units: metres. Checked against refine_touch, the version for one face, in tests/geometry/refine_test.cpp
#pragma once

#include <cmath>
#include <glm/glm.hpp>

#include "geometry/closest.hpp"

// The calling convention for vectors does not matter: all functions that pass them are inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

#define TROCAR_LANES [[gnu::always_inline]] inline

namespace trocar::lanes {
namespace {

using Lane = double __attribute__((vector_size(32)));
using Mask = decltype(Lane{} < Lane{});  // per lane -1 for true, 0 for false

struct Lane3 {
  Lane x, y, z;
};

TROCAR_LANES Lane3 operator+(const Lane3& a, const Lane3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
TROCAR_LANES Lane3 operator-(const Lane3& a, const Lane3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
TROCAR_LANES Lane3 operator*(const Lane& k, const Lane3& a) { return {k * a.x, k * a.y, k * a.z}; }
TROCAR_LANES Lane dot(const Lane3& a, const Lane3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
TROCAR_LANES Lane3 cross(const Lane3& a, const Lane3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
TROCAR_LANES Lane3 pick(const Mask& m, const Lane3& a, const Lane3& b) {
  return {m ? a.x : b.x, m ? a.y : b.y, m ? a.z : b.z};
}
TROCAR_LANES Lane3 all(const glm::dvec3& v) { return {Lane{} + v.x, Lane{} + v.y, Lane{} + v.z}; }
TROCAR_LANES Lane absolute(const Lane& a) { return a < 0.0 ? -a : a; }
TROCAR_LANES Lane larger(const Lane& a, const Lane& b) { return a > b ? a : b; }
TROCAR_LANES Lane clamp01(const Lane& a) {
  const Lane low = a > 0.0 ? a : Lane{};
  return low < 1.0 ? low : Lane{} + 1.0;
}
TROCAR_LANES Lane root(const Lane& a) {
  Lane roots;
  for (int lane = 0; lane < 4; ++lane) roots[lane] = std::sqrt(a[lane]);
  return roots;
}
TROCAR_LANES bool any(const Mask& m) { return (m[0] | m[1] | m[2] | m[3]) != 0; }

struct LaneSegment {
  Lane3 p, d;
  Lane squared, inverse;  // inverse of squared, 0 for a point
};

TROCAR_LANES LaneSegment segment(const Lane3& p, const Lane3& d) {
  const Lane squared = dot(d, d);
  return {p, d, squared, squared > 0.0 ? 1.0 / squared : Lane{}};
}

struct LaneFace {
  LaneSegment side[3];  // a -> b, b -> c, c -> a
  Lane3 normal;
  Lane squared_normal, inverse_normal;  // 0 when too thin, as in closest::Face
};

TROCAR_LANES LaneFace face(const Lane3& a, const Lane3& b, const Lane3& c) {
  LaneFace made{{segment(a, b - a), segment(b, c - b), segment(c, a - c)}, cross(b - a, c - a), {}, {}};
  const Lane size = larger(larger(made.side[0].squared, made.side[1].squared), made.side[2].squared);
  const Lane squared = dot(made.normal, made.normal);
  constexpr double kThin = closest::kThinnestTriangle * closest::kThinnestTriangle;
  const Mask thick = squared > kThin * size * size;
  made.squared_normal = thick ? squared : Lane{};
  made.inverse_normal = thick ? 1.0 / squared : Lane{};
  return made;
}

struct LanePair {
  Lane u, v, squared;
};

// Does the same as closest::closest_segments.
TROCAR_LANES LanePair closest_segments(const LaneSegment& first, const LaneSegment& second) {
  const Lane3 r = first.p - second.p;
  const Lane aa = first.squared, ee = second.squared;
  const Lane c = dot(first.d, r), f = dot(second.d, r), b = dot(first.d, second.d);
  const Lane sine = aa * ee - b * b, least = closest::kNearlyParallel * aa * ee;
  const Mask parallel = sine <= least;
  Lane u = (b * f - c * ee) / (parallel ? Lane{} + 1.0 : sine);
  if (any(parallel)) {
    const Lane3 n = cross(first.d, second.d);
    const Lane nn = dot(n, n);
    const Lane exact = nn > 0.0 ? -dot(cross(r, second.d), n) / nn : Lane{};
    u = parallel ? exact : u;
  }
  u = clamp01(u);
  Lane v = (b * u + f) * second.inverse;
  const Mask below = (v < 0.0) | (ee <= 0.0), above = v > 1.0;
  const Lane u_below = clamp01(-c * first.inverse), u_above = clamp01((b - c) * first.inverse);
  u = below ? u_below : above ? u_above : u;
  v = below ? Lane{} : above ? Lane{} + 1.0 : v;
  const Lane3 gap = r + u * first.d - v * second.d;
  return {u, v, dot(gap, gap)};
}

struct LaneInterior {
  Mask inside;
  Lane u, beta, gamma, squared;
};

// Does the same as closest::closest_interior; where `inside` is false the other members are undefined.
TROCAR_LANES LaneInterior closest_interior(const LaneSegment& axis, const LaneFace& face) {
  const Lane3 from_a = axis.p - face.side[0].p;
  const Lane start = dot(face.normal, from_a), end = start + dot(face.normal, axis.d);
  const Mask crosses = (start < 0.0) != (end < 0.0), starts_nearer = absolute(start) <= absolute(end);
  const Lane crossing = clamp01(start / (crosses ? start - end : Lane{} + 1.0));
  const Lane u = crosses ? crossing : starts_nearer ? Lane{} : Lane{} + 1.0;
  const Lane3 nw = cross(face.normal, from_a + u * axis.d);
  const Lane beta = -dot(face.side[2].d, nw), gamma = -dot(face.side[0].d, nw);
  const Mask inside =
      (face.squared_normal > 0.0) & (beta >= 0.0) & (gamma >= 0.0) & (beta + gamma <= face.squared_normal);
  const Lane height = crosses ? Lane{} : starts_nearer ? start : end;
  return {inside, u, beta * face.inverse_normal, gamma * face.inverse_normal, height * height * face.inverse_normal};
}

struct LaneAxisPair {
  Lane u;
  Lane3 on_face;
  Lane squared;
};

// Does the same as closest::closest_axis_face.
TROCAR_LANES LaneAxisPair closest_axis_face(const LaneSegment& axis, const LaneFace& face) {
  const LanePair first = closest_segments(axis, face.side[0]);
  LaneAxisPair best{first.u, face.side[0].p + first.v * face.side[0].d, first.squared};
  for (int side = 1; side < 3; ++side) {
    const LanePair pair = closest_segments(axis, face.side[side]);
    const Lane3 on_face = face.side[side].p + pair.v * face.side[side].d;
    const Mask nearer = pair.squared < best.squared;
    best = {nearer ? pair.u : best.u, pick(nearer, on_face, best.on_face), nearer ? pair.squared : best.squared};
  }
  const LaneInterior in = closest_interior(axis, face);
  const Lane3 on_face = face.side[0].p + in.beta * face.side[0].d - in.gamma * face.side[2].d;
  return {in.inside ? in.u : best.u, pick(in.inside, on_face, best.on_face), in.inside ? in.squared : best.squared};
}

}  // namespace
}  // namespace trocar::lanes
