// Implements the two kernels of refine_touches: they refine four faces side by side, without branches between them, as
// refine() of refine.cpp does for one. refine.cpp and refine_avx2.cpp include this file, one per instruction set, so
// nothing here has linkage, and everything is inlined. Units: metres; time 1 = one step. Checked against refine_touch,
// the version for one face, in tests/geometry/refine_test.cpp
#pragma once

#include <cmath>
#include <glm/glm.hpp>

#include "geometry/closest.hpp"
#include "geometry/refine.hpp"

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

// Does the same as sphere_exit and capsule_exit of refine.cpp.
TROCAR_LANES Lane sphere_exit(const Lane3& from, const Lane3& ray, const Lane3& centre, double squared_radius) {
  const Lane3 r = from - centre;
  const Lane b = dot(r, ray), under = b * b - dot(r, r) + squared_radius;
  const Mask hits = under >= 0.0;
  return hits ? root(hits ? under : Lane{}) - b : Lane{} - 1.0;
}

TROCAR_LANES Lane capsule_exit(const LaneSegment& shaft, double squared_radius, const Lane3& from, const Lane3& ray) {
  const Lane exit = larger(larger(Lane{}, sphere_exit(from, ray, shaft.p, squared_radius)),
                           sphere_exit(from, ray, shaft.p + shaft.d, squared_radius));
  const Lane3 r = from - shaft.p;
  const Lane along = dot(ray, shaft.d), start = dot(r, shaft.d), dd = shaft.squared;
  const Lane aa = dd - along * along, b = dd * dot(r, ray) - start * along;
  const Lane under = b * b - aa * (dd * (dot(r, r) - squared_radius) - start * start);
  const Mask hits = (aa > kParallelToShaft * dd) & (under >= 0.0);
  const Lane x = (root(hits ? under : Lane{}) - b) / (hits ? aa : Lane{} + 1.0), axial = start + x * along;
  return (hits & (axial >= 0.0) & (axial <= dd)) ? larger(exit, x) : exit;
}

TROCAR_LANES LaneFace load(const FourFaces& four) {
  Lane3 corner[3];
  for (int lane = 0; lane < 4; ++lane) {
    const Triangle& t = four.faces[lane];
    const glm::dvec3* from[3] = {&t.a, &t.b, &t.c};
    for (int i = 0; i < 3; ++i) {
      corner[i].x[lane] = from[i]->x;
      corner[i].y[lane] = from[i]->y;
      corner[i].z[lane] = from[i]->z;
    }
  }
  return face(corner[0], corner[1], corner[2]);
}

// The closest points of shaft and face, each lane at its own time.
struct LaneMoment {
  Lane time;
  LaneAxisPair pair;
};

TROCAR_LANES LaneMoment pick(const Mask& m, const LaneMoment& a, const LaneMoment& b) {
  return {m ? a.time : b.time,
          {m ? a.pair.u : b.pair.u, pick(m, a.pair.on_face, b.pair.on_face), m ? a.pair.squared : b.pair.squared}};
}

TROCAR_LANES Lane3 shaft_at(const Sweep& sweep, const Lane& time) {
  return all(sweep.before) + time * all(sweep.motion);
}

TROCAR_LANES LaneMoment moment_at(const Sweep& sweep, const LaneFace& face, const Lane& time) {
  return {time, closest_axis_face(segment(all(sweep.pivot), shaft_at(sweep, time)), face)};
}

// Writes the touches of the lanes in `which`. Where the shaft crosses a face without a normal, the verdict is Ask:
// refine() then decides that face.
TROCAR_LANES void fill(const Sweep& sweep, const LaneFace& face, const LaneMoment& at, const Mask& which,
                       FourFaces& four) {
  const Lane3 point = at.pair.on_face;
  const Lane3 gap = all(sweep.pivot) + at.pair.u * shaft_at(sweep, at.time) - point;
  const Lane distance = root(at.pair.squared);
  const Mask crosses = distance <= kCrossing, thin = face.squared_normal <= 0.0;
  const Lane length = crosses ? root(face.squared_normal) : distance;
  const Lane3 normal = (1.0 / (length > 0.0 ? length : Lane{} + 1.0)) * pick(crosses, face.normal, gap);
  const LaneSegment end = segment(all(sweep.pivot), all(sweep.end.d));
  const Lane depth = capsule_exit(end, sweep.squared_radius, point, Lane3{} - normal);
  for (int lane = 0; lane < 4; ++lane) {
    if (!which[lane]) continue;
    Touch& touch = four.touches[lane];
    touch.point = {point.x[lane], point.y[lane], point.z[lane]};
    touch.normal = {normal.x[lane], normal.y[lane], normal.z[lane]};
    touch.depth = static_cast<float>(depth[lane]);
    touch.time = static_cast<float>(at.time[lane]);
    four.verdicts[lane] = crosses[lane] && thin[lane] ? Verdict::Ask : Verdict::Touched;
  }
}

TROCAR_LANES void at_start(const Sweep& sweep, FourFaces& four) {
  const LaneFace face = load(four);
  const LaneMoment start = moment_at(sweep, face, Lane{});
  const Mask touched = start.pair.squared <= sweep.squared_radius;
  // The shaft moves at most as far as the tip, so a face beyond this distance is never touched.
  const double farthest = sweep.radius + sweep.distance_moved + kCrossing;
  for (int lane = 0; lane < 4; ++lane)
    four.verdicts[lane] = start.pair.squared[lane] > farthest * farthest ? Verdict::Out : Verdict::Later;
  if (any(touched)) fill(sweep, face, start, touched, four);
}

// Makes Newton's step from a moment towards distance = radius, as newton_time of refine.cpp does. The result may be
// infinite or NaN.
TROCAR_LANES Lane newton_time(const Sweep& sweep, const LaneMoment& at) {
  const Lane3 gap = all(sweep.pivot) + at.pair.u * shaft_at(sweep, at.time) - at.pair.on_face;
  const Lane distance = root(at.pair.squared), rate = dot(gap, all(sweep.motion)) * at.pair.u;
  return at.time - (distance - sweep.radius) * distance / rate;
}

// Returns the first moment within the radius, as first_within of refine.cpp, for the lanes in `which`.
TROCAR_LANES LaneMoment first_within(const Sweep& sweep, const LaneFace& face, const LaneMoment& start,
                                     const LaneMoment& end, const Mask& which) {
  LaneMoment from = start, found = end;
  Lane outside = start.time, within = end.time, stride = 2.0 * within;
  Mask open = which & (root(end.pair.squared) < sweep.radius - kRootTolerance);
  for (int step = 0; step < kRootSteps && any(open); ++step) {
    const Lane newton = newton_time(sweep, from), middle = 0.5 * (outside + within);
    const Mask good = (newton > outside) & (newton < within) & (absolute(newton - from.time) <= 0.5 * stride);
    const Lane time = good ? newton : middle;
    stride = absolute(time - from.time);
    open &= (time > outside) & (time < within);
    from = moment_at(sweep, face, time);
    const Lane excess = root(from.pair.squared) - sweep.radius;
    const Mask done = absolute(excess) <= kRootTolerance, before = excess > 0.0;
    found = pick(open & (done | ~before), from, found);
    outside = before ? time : outside;
    within = before ? within : time;
    open &= ~done;
  }
  return found;
}

// Does the same as time_within of refine.cpp: a time at which the shaft is within the radius although it is not at
// start or end.
TROCAR_LANES Lane time_within(const Sweep& sweep, const LaneFace& face) {
  const LaneFace swept =
      lanes::face(all(sweep.pivot), all(sweep.start.p + sweep.start.d), all(sweep.end.p + sweep.end.d));
  const LaneAxisPair tip = closest_axis_face(segment(all(sweep.tip_path.p), all(sweep.tip_path.d)), face);
  Lane time = tip.squared <= sweep.squared_radius ? tip.u : Lane{} - 1.0;
  for (const LaneSegment& side : face.side) {
    const LaneInterior pair = closest_interior(side, swept);
    const Lane along = pair.beta + pair.gamma;
    const Mask hits = pair.inside & (pair.squared <= sweep.squared_radius);
    time = hits ? clamp01(pair.gamma / (along > 0.0 ? along : Lane{} + 1.0)) : time;
  }
  return time;
}

TROCAR_LANES void during(const Sweep& sweep, FourFaces& four) {
  const LaneFace face = load(four);
  const LaneMoment start = moment_at(sweep, face, Lane{});
  LaneMoment end = moment_at(sweep, face, Lane{} + 1.0);
  Mask within = end.pair.squared <= sweep.squared_radius;
  // The tip's path bounds the shaft's motion: if the two distances add up to more than this, the shaft stays outside.
  const double farthest = 2.0 * (sweep.radius + kCrossing) + sweep.distance_moved;
  const Mask between = ~within & (root(start.pair.squared) + root(end.pair.squared) <= farthest);
  if (any(between)) {
    const Lane time = time_within(sweep, face);
    const Mask found = between & (time >= 0.0);
    if (any(found)) end = pick(found, moment_at(sweep, face, clamp01(time)), end);
    within |= found;
  }
  for (Verdict& verdict : four.verdicts) verdict = Verdict::Out;
  if (any(within)) fill(sweep, face, first_within(sweep, face, start, end, within), within, four);
}

}  // namespace

}  // namespace trocar::lanes
