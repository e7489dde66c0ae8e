#include "geometry/part_touch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "geometry/hull_distance.hpp"

namespace trocar {
namespace {

using glm::dvec3;

// A search that takes more steps counts as contact: it is within about kPartContact of one all the time.
constexpr int kMostAdvances = 10000;
// Two points closer than this do not define a direction.
constexpr double kCoincident = 1e-9;  // m

struct PartMoment {
  double time;
  HullDistance closest;  // first: on the polytope, second: on the face
};

// Returns the time that the part needs at least to close the gaps: those of its corners to the plane of the face along
// `normal`, from part to face, `limit` being the face's own position along it.
double safe_advance(const PartSweep& sweep, const PosedPart& posed, double time, const dvec3& normal, double limit) {
  const PartVelocity velocity = velocity_at(*sweep.part.motion, *sweep.part.shape, time);
  double least = 1.0;
  for (const dvec3& corner : posed.corners()) {
    const double gap = limit - glm::dot(normal, corner), speed = glm::dot(normal, velocity.at(corner));
    least = std::min(least, closing_time(gap, speed, sweep.acceleration));
  }
  return least;
}

// Returns the first contact in the interval; a negative time when there is none.
PartMoment first_contact(const PartSweep& sweep, std::span<const dvec3> face) {
  const double radius = sweep.part.shape->radius;
  PosedPart posed = sweep.start;
  double time = sweep.part.from;
  for (int step = 0; step < kMostAdvances; ++step) {
    const HullDistance closest = hull_distance(posed.corners(), face);
    if (closest.distance <= radius + kPartContact) return {time, closest};
    if (time >= sweep.part.to) return {-1.0, closest};
    const dvec3 normal = (closest.on_second - closest.on_first) / closest.distance;
    const double limit =
        std::min({glm::dot(normal, face[0]), glm::dot(normal, face[1]), glm::dot(normal, face[2])}) - radius;
    time = std::min(sweep.part.to, time + safe_advance(sweep, posed, time, normal, limit));
    posed = PosedPart(*sweep.part.shape, frame_at(*sweep.part.motion, *sweep.part.shape, time));
  }
  return {time, hull_distance(posed.corners(), face)};
}

dvec3 face_normal(const Triangle& face) {
  const dvec3 n = glm::cross(face.b - face.a, face.c - face.a);
  const double length = glm::length(n);
  return length > 0.0 ? n / length : dvec3(0.0, 0.0, 1.0);
}

struct Contact {
  dvec3 point, normal;  // m, 1: on the face, from face to part
};

std::optional<Contact> touch_without_depth(const PartSweep& sweep, const Triangle& face, Touch& touch) {
  const std::array<dvec3, 3> corners{face.a, face.b, face.c};
  const PartMoment first = first_contact(sweep, corners);
  if (first.time < 0.0) return std::nullopt;
  const dvec3 to_part = first.closest.on_first - first.closest.on_second;
  const dvec3 normal = first.closest.distance > kCoincident ? to_part / first.closest.distance : face_normal(face);
  touch.point = glm::vec3(first.closest.on_second);
  touch.normal = glm::vec3(normal);
  touch.time = static_cast<float>(first.time);
  return Contact{first.closest.on_second, normal};
}

}  // namespace

// The positive root of gap = speed t + acceleration / 2 t^2, in the form without cancellation.
double closing_time(double gap, double speed, double acceleration) {
  const double root = std::sqrt(speed * speed + 2.0 * acceleration * gap);
  if (speed > 0.0) return 2.0 * gap / (speed + root);
  return acceleration > 0.0 ? (root - speed) / acceleration : std::numeric_limits<double>::infinity();
}

PosedPart::PosedPart(const PartShape& shape, const RigidFrame& frame) : count_(shape.corners.size()) {
  for (std::size_t i = 0; i < count_; ++i) corners_[i] = frame.to_world(shape.corners[i]);
}

PartSweep part_sweep(const MovingPart& part) {
  return {part, motion_bounds(*part.motion, *part.shape).acceleration,
          PosedPart(*part.shape, frame_at(*part.motion, *part.shape, part.from)),
          PosedPart(*part.shape, frame_at(*part.motion, *part.shape, part.end))};
}

bool part_meets(const PartSweep& sweep, const Triangle& face, Touch& touch) {
  return touch_without_depth(sweep, face, touch).has_value();
}

bool part_touch(const PartSweep& sweep, const Triangle& face, Touch& touch) {
  const std::optional<Contact> contact = touch_without_depth(sweep, face, touch);
  if (!contact) return false;
  touch.depth = static_cast<float>(
      exit_distance(sweep.end.corners(), sweep.part.shape->radius, contact->point, -contact->normal));
  return true;
}

}  // namespace trocar
