#include "cpu_collision/part_reference.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "cpu_collision/reference.hpp"

namespace trocar {
namespace {

using glm::dvec3;

// Bisection ends when the part moves less than this in half an interval.
constexpr double kEnoughMotion = 0.25 * kBorderlineBand;
// Halves that may wait at the same time: one for each bisection of the interval.
constexpr int kMostHalves = 64;

Triangle posed(const PartShape& shape, const RigidFrame& pose, const glm::uvec3& face) {
  return {pose.to_world(shape.corners[face.x]), pose.to_world(shape.corners[face.y]),
          pose.to_world(shape.corners[face.z])};
}

// A point is inside a convex polyhedron when it lies behind every face. A flat polytope has no inside.
bool inside(const PartShape& shape, const RigidFrame& pose, const dvec3& point) {
  double thickest = 0.0;
  for (const glm::uvec3& face : shape.faces) {
    const Triangle t = posed(shape, pose, face);
    const dvec3 n = glm::cross(t.b - t.a, t.c - t.a);
    const double height = glm::dot(n, point - t.a);
    if (height > 0.0) return false;
    thickest = std::max(thickest, -height);
  }
  return thickest > 0.0;
}

double ball_gap(const PartShape& shape, const RigidFrame& pose, const Triangle& face) {
  const dvec3 centre = pose.to_world(shape.corners[0]);
  double reach = 0.0;
  for (const dvec3& corner : shape.corners) reach = std::max(reach, glm::distance(corner, shape.corners[0]));
  return reference_distance(face, {centre, centre, centre}) - reach;
}

}  // namespace

double reference_part_distance(const PartShape& shape, const RigidFrame& pose, const Triangle& face) {
  if (inside(shape, pose, face.a)) return 0.0;
  double least = std::numeric_limits<double>::infinity();
  for (const glm::uvec3& side : shape.faces)
    least = std::min(least, reference_distance(posed(shape, pose, side), face));
  return least;
}

double reference_part_gap(const MovingPart& part, const Triangle& face) {
  const PartShape& shape = *part.shape;
  const double speed = motion_bounds(*part.motion, shape).speed;
  double best = std::numeric_limits<double>::infinity();
  std::array<std::array<double, 2>, kMostHalves> open;
  int count = 0;
  open[count++] = {part.from, part.to};
  while (count > 0) {
    const auto [from, to] = open[--count];
    const double middle = 0.5 * (from + to), moved = 0.5 * (to - from) * speed;
    const RigidFrame pose = frame_at(*part.motion, shape, middle);
    const double coarse = ball_gap(shape, pose, face) - shape.radius;
    if (coarse - moved > kBorderlineBand) {
      best = std::min(best, coarse);
      continue;
    }
    const double gap = reference_part_distance(shape, pose, face) - shape.radius;
    best = std::min(best, gap);
    if (best < -kBorderlineBand) return best;
    if (gap - moved > kBorderlineBand || moved < kEnoughMotion || count + 2 > kMostHalves) continue;
    open[count++] = {middle, to};
    open[count++] = {from, middle};
  }
  return best;
}

}  // namespace trocar
