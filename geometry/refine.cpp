// Computes the touch of a face. d(t) is the distance from the face to the shaft at time t. The shaft's points are pivot
// + along arm + across motion with 0 <= across <= along <= 1 and t = across / along. The distance is convex over
// (along, across), so the times at which the face is within the radius form one interval. If 0 is not in it, any time
// t* in it, together with 0, brackets the only root of d(t) = radius between them. Units: metres; time 1 = one
// step.   Checked by sampling in tests/geometry/refine_test.cpp
#include "geometry/refine.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "geometry/frame.hpp"
#include "geometry/machine.hpp"
#include "geometry/part.hpp"
#include "geometry/refine_four.hpp"

namespace trocar {
namespace {

using closest::AxisPair;
using closest::Face;
using closest::InteriorPair;
using closest::Segment;
using closest::SegmentPair;
using glm::dvec3;

// The closest points of shaft and face at one time.
struct Moment {
  double time;
  AxisPair pair;
};

Segment shaft_at(const Sweep& sweep, double time) {
  const dvec3 d = sweep.before + time * sweep.motion;
  return {sweep.pivot, d, glm::dot(d, d)};
}

Moment moment_at(const Sweep& sweep, const Face& face, double time) {
  return {time, closest::closest_axis_face(shaft_at(sweep, time), face)};
}

// Returns a time at which the shaft is within the radius, given d(0) > radius and d(1) > radius, or a negative number
// when there is none. Two cases remain: the tip's path against the face, and the face's sides against the interior of
// the swept triangle.
double time_within(const Sweep& sweep, const Face& face) {
  for (const Segment& side : face.side) {
    const InteriorPair pair = closest::closest_interior(side, sweep.swept);
    if (pair.inside && pair.squared <= sweep.squared_radius) {
      const double along = pair.beta + pair.gamma;
      return along > 0.0 ? closest::clamp01(pair.gamma / along) : 0.0;
    }
  }
  const AxisPair tip = closest::closest_axis_face(sweep.tip_path, face);
  return tip.squared <= sweep.squared_radius ? tip.u : -1.0;
}

// Makes Newton's step from a moment towards d = radius: by the envelope theorem d'(t) = unit(face to shaft) . motion *
// along.
double newton_time(const Sweep& sweep, const Moment& at) {
  const double distance = std::sqrt(at.pair.squared);
  const dvec3 on_axis = sweep.pivot + at.pair.u * (sweep.before + at.time * sweep.motion);
  const double rate = glm::dot(on_axis - at.pair.on_face, sweep.motion) * at.pair.u;  // d d'
  return at.time - (distance - sweep.radius) * distance / rate;                       // may be inf or nan
}

// Returns the first time at which the shaft is within the radius, given one moment before it and one within. Newton's
// method; the interval is halved when a step leaves it or is longer than half of the last step.
Moment first_within(const Sweep& sweep, const Face& face, Moment outside, Moment within) {
  if (std::sqrt(within.pair.squared) >= sweep.radius - kRootTolerance) return within;
  Moment from = outside;
  double stride = 2.0 * (within.time - outside.time);
  for (int step = 0; step < kRootSteps; ++step) {
    double time = newton_time(sweep, from);
    const bool good = time > outside.time && time < within.time && std::abs(time - from.time) <= 0.5 * stride;
    if (!good) time = 0.5 * (outside.time + within.time);
    if (time <= outside.time || time >= within.time) break;
    stride = std::abs(time - from.time);
    from = moment_at(sweep, face, time);
    const double excess = std::sqrt(from.pair.squared) - sweep.radius;
    if (std::abs(excess) <= kRootTolerance) return from;
    (excess > 0.0 ? outside : within) = from;
  }
  return within;
}

// Returns the face's outward normal. A degenerate face gets a perpendicular of its longest side, or of the shaft.
dvec3 face_normal(const Face& face, const dvec3& shaft) {
  if (face.squared_normal > 0.0) return face.normal / std::sqrt(face.squared_normal);
  const Segment* longest = &face.side[0];
  for (const Segment& side : face.side) {
    if (side.squared_length > longest->squared_length) longest = &side;
  }
  return glm::normalize(any_perpendicular(longest->squared_length > 0.0 ? longest->d : shaft));
}

// Returns the parameter at which the line from + x direction (unit) leaves a sphere; negative when it misses.
double sphere_exit(const dvec3& from, const dvec3& direction, const dvec3& centre, double squared_radius) {
  const dvec3 r = from - centre;
  const double b = glm::dot(r, direction), under = b * b - glm::dot(r, r) + squared_radius;
  return under >= 0.0 ? std::sqrt(under) - b : -1.0;
}

// Returns the distance along `direction` (unit) at which the ray from `from` leaves the capsule around the shaft; 0
// when the capsule is not ahead. The exit of a capsule is the farthest exit of its two spheres and, between its ends,
// its cylinder.
double capsule_exit(const Segment& shaft, double squared_radius, const dvec3& from, const dvec3& direction) {
  double exit = std::max({0.0, sphere_exit(from, direction, shaft.p, squared_radius),
                          sphere_exit(from, direction, shaft.p + shaft.d, squared_radius)});
  const dvec3 r = from - shaft.p;
  const double along = glm::dot(direction, shaft.d), start = glm::dot(r, shaft.d), dd = shaft.squared_length;
  const double aa = dd - along * along, b = dd * glm::dot(r, direction) - start * along;
  const double c = dd * (glm::dot(r, r) - squared_radius) - start * start;
  const double under = b * b - aa * c;
  if (aa > kParallelToShaft * dd && under >= 0.0) {
    const double x = (std::sqrt(under) - b) / aa, axial = start + x * along;
    if (axial >= 0.0 && axial <= dd) exit = std::max(exit, x);
  }
  return exit;
}

void fill(const Sweep& sweep, const Face& face, const Moment& at, Touch& touch) {
  const Segment shaft = shaft_at(sweep, at.time);
  const double distance = std::sqrt(at.pair.squared);
  const dvec3 point = at.pair.on_face;
  const dvec3 normal =
      distance > kCrossing ? (shaft.p + at.pair.u * shaft.d - point) / distance : face_normal(face, shaft.d);
  touch.point = glm::vec3(point);
  touch.normal = glm::vec3(normal);
  touch.time = static_cast<float>(at.time);
  touch.depth = static_cast<float>(capsule_exit(sweep.end, sweep.squared_radius, point, -normal));
}

// Four faces collected for a kernel, and the slots of their touches.
struct Batch {
  FourFaces four;
  std::size_t slots[4];
  int count = 0;

  void add(const Triangle& face, std::size_t slot) {
    four.faces[count] = face;
    slots[count++] = slot;
  }
  // A last batch of fewer than four repeats its last face.
  void pad() { std::fill(std::begin(four.faces) + count, std::end(four.faces), four.faces[count - 1]); }
};

// Time of a slot whose face is not touched.
constexpr float kNoTime = -1.f;

void store(const Sweep& sweep, const Batch& batch, int lane, std::span<Touch> touches) {
  Touch& touch = touches[batch.slots[lane]];
  const FaceId face = touch.face;
  bool touched = batch.four.verdicts[lane] == Verdict::Touched;
  if (touched) touch = batch.four.touches[lane];
  if (batch.four.verdicts[lane] == Verdict::Ask) touched = refine(sweep, batch.four.faces[lane], touch);
  if (!touched) touch.time = kNoTime;
  touch.face = face;
}

void refine_later(const Sweep& sweep, const RefineKernels& kernels, Batch& later, std::span<Touch> touches) {
  if (later.count == 0) return;
  later.pad();
  kernels.during(sweep, later.four);
  for (int lane = 0; lane < later.count; ++lane) store(sweep, later, lane, touches);
  later.count = 0;
}

void refine_start(const Sweep& sweep, const RefineKernels& kernels, Batch& now, Batch& later,
                  std::span<Touch> touches) {
  now.pad();
  kernels.at_start(sweep, now.four);
  for (int lane = 0; lane < now.count; ++lane) {
    if (now.four.verdicts[lane] != Verdict::Later) {
      store(sweep, now, lane, touches);
      continue;
    }
    later.add(now.four.faces[lane], now.slots[lane]);
    if (later.count == 4) refine_later(sweep, kernels, later, touches);
  }
  now.count = 0;
}

// Each candidate uses the slot of its own index until all are decided; then the touched ones move to the front.
template <class CornersOf>
std::size_t refine_all(const ToolStep& step, const RefineKernels& kernels, std::span<const FaceId> candidates,
                       CornersOf corners_of, std::span<Touch> touches) {
  const Sweep sweep = sweep_of(step);
  Batch now, later;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    touches[i].face = candidates[i];
    now.add(corners_of(i), i);
    if (now.count == 4 || i + 1 == candidates.size()) refine_start(sweep, kernels, now, later, touches);
  }
  refine_later(sweep, kernels, later, touches);
  std::size_t count = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (touches[i].time != kNoTime) touches[count++] = touches[i];
  }
  return count;
}

template <class CornersOf>
std::size_t refine_part(const MovingPart& part, std::span<const FaceId> candidates, CornersOf corners_of,
                        std::span<Touch> touches) {
  const PartSweep sweep = part_sweep(part);
  std::size_t count = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!part_touch(sweep, corners_of(i), touches[count])) continue;
    touches[count++].face = candidates[i];
  }
  return count;
}

}  // namespace

Sweep sweep_of(const ToolStep& step) {
  const dvec3 motion = step.tip_after - step.tip_before;
  return {step.pivot,
          step.tip_before - step.pivot,
          motion,
          step.radius,
          step.radius * step.radius,
          glm::length(motion),
          closest::segment(step.pivot, step.tip_before),
          closest::segment(step.pivot, step.tip_after),
          closest::segment(step.tip_before, step.tip_after),
          closest::face({step.pivot, step.tip_before, step.tip_after})};
}

bool refine(const Sweep& sweep, const Triangle& triangle, Touch& touch) {
  const Face face = closest::face(triangle);
  Moment at{0.0, closest::closest_axis_face(sweep.start, face)};
  if (at.pair.squared > sweep.squared_radius) {
    if (sweep.distance_moved == 0.0) return false;
    Moment within{1.0, closest::closest_axis_face(sweep.end, face)};
    if (within.pair.squared > sweep.squared_radius) {
      const double time = time_within(sweep, face);
      if (time < 0.0) return false;
      within = moment_at(sweep, face, time);
    }
    at = first_within(sweep, face, at, within);
  }
  fill(sweep, face, at, touch);
  return true;
}

bool refine_touch(const ToolStep& step, const Triangle& face, Touch& touch) {
  if (step.part.shape) return part_touch(part_sweep(step.part), face, touch);
  return refine(sweep_of(step), face, touch);
}

std::size_t refine_touches(const ToolStep& step, const MeshView& mesh, std::span<const FaceId> candidates,
                           std::span<Touch> touches) {
  const auto corners_of = [&](std::size_t i) { return triangle_of(mesh.positions, mesh.faces[index(candidates[i])]); };
  if (step.part.shape) return refine_part(step.part, candidates, corners_of, touches);
  return refine_all(step, best_refine_kernels(), candidates, corners_of, touches);
}

std::size_t refine_touches(const ToolStep& step, std::span<const Triangle> corners, std::span<const FaceId> candidates,
                           std::span<Touch> touches) {
  const auto corners_of = [&](std::size_t i) { return corners[i]; };
  if (step.part.shape) return refine_part(step.part, candidates, corners_of, touches);
  return refine_all(step, best_refine_kernels(), candidates, corners_of, touches);
}

std::size_t refine_touches_with(const RefineKernels& kernels, const ToolStep& step, std::span<const Triangle> corners,
                                std::span<const FaceId> candidates, std::span<Touch> touches) {
  return refine_all(
      step, kernels, candidates, [&](std::size_t i) { return corners[i]; }, touches);
}

const RefineKernels& plain_refine_kernels() {
  static const RefineKernels kernels{[](const Sweep& sweep, FourFaces& four) { lanes::at_start(sweep, four); },
                                     [](const Sweep& sweep, FourFaces& four) { lanes::during(sweep, four); }};
  return kernels;
}

const RefineKernels& best_refine_kernels() {
  static const RefineKernels& best =
      instructions() >= Instructions::Avx2 && avx2_refine_kernels() ? *avx2_refine_kernels() : plain_refine_kernels();
  return best;
}

}  // namespace trocar
