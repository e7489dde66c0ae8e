#include "geometry/line_triangle.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/closest.hpp"
#include "geometry/refine.hpp"

namespace trocar {
namespace {

// Two lines in one plane meet when their distance is below this fraction of the coordinates.
constexpr double kSamePoint = 1e-14;
// When a line's rise over a triangle's plane is below this fraction of its terms, the rise is only rounding error, and
// so is the intersection point: the line lies in the plane, or the triangle is a needle.
constexpr double kFlatRise = 1e-14;

double size_of(const glm::dvec3& p) { return std::max({std::abs(p.x), std::abs(p.y), std::abs(p.z)}); }

// Returns the length of the line, in units of `direction`, that can meet the triangle; the line itself may be infinite.
double useful_length(const glm::dvec3& origin, const glm::dvec3& direction, const Triangle& face) {
  const double length = glm::length(direction);
  if (!(length > 0.0)) return 0.0;
  const double far =
      std::max({glm::distance(origin, face.a), glm::distance(origin, face.b), glm::distance(origin, face.c)});
  return 2.0 * far / length;
}

double near_to(const glm::dvec3& origin, const glm::dvec3& step, const Triangle& face) {
  return kSamePoint * (size_of(origin) + size_of(step) + size_of(face.a) + size_of(face.b) + size_of(face.c));
}

bool lies_on(const glm::dvec3& point, const Triangle& face, double near) {
  return closest_segment_triangle(point, point, face).distance <= near;
}

// Returns the parameter on the first of two coplanar segments at which they meet. For nearly parallel segments the
// closest points lose digits; the cross product does not.
std::optional<double> meet_segments(const closest::Segment& first, const closest::Segment& second, double near) {
  const closest::SegmentPair pair = closest::closest_segments(first, second);
  if (std::sqrt(pair.squared) <= near) return pair.u;
  const glm::dvec3 r = first.p - second.p, n = glm::cross(first.d, second.d);
  const double nn = glm::dot(n, n);
  if (!(nn > 0.0)) return std::nullopt;
  const double u = closest::clamp01(-glm::dot(glm::cross(r, second.d), n) / nn);
  const double v = closest::clamp01(glm::dot(second.d, r + u * first.d) / second.squared_length);
  return glm::length(r + u * first.d - v * second.d) <= near ? std::optional(u) : std::nullopt;
}

// Returns the first common point of a coplanar segment and triangle: the start if inside, or a crossing with a side.
std::optional<double> meet_in_plane(const glm::dvec3& origin, const glm::dvec3& step, const Triangle& face) {
  const double near = near_to(origin, step, face);
  if (lies_on(origin, face, near)) return 0.0;
  std::optional<double> first;
  const closest::Segment line = closest::segment(origin, origin + step);
  const glm::dvec3 corner[] = {face.a, face.b, face.c};
  for (int k = 0; k < 3; ++k) {
    const auto u = meet_segments(line, closest::segment(corner[k], corner[(k + 1) % 3]), near);
    if (u && (!first || *u < *first)) first = u;
  }
  return first;
}

}  // namespace

std::optional<double> line_meets_triangle(const glm::dvec3& origin, const glm::dvec3& direction, double most,
                                          const Triangle& face) {
  const glm::dvec3 a = face.a - origin, b = face.b - origin, c = face.c - origin;
  const glm::dvec3 normal = glm::cross(b - a, c - a);
  const double height = glm::dot(normal, a), rise = glm::dot(normal, direction);
  const double size = size_of(a) + size_of(b) + size_of(c), edge = size_of(b - a) + size_of(c - a);
  const double rounding = kFlatRise * size * edge;
  if (std::abs(rise) <= rounding * size_of(direction)) {
    // The line stays off the plane over the whole triangle.
    if (std::abs(height) > 4.0 * rounding * size) return std::nullopt;
    const double length = useful_length(origin, direction, face);
    const auto share = meet_in_plane(origin, length * direction, face);
    return share && *share * length <= most ? std::optional(*share * length) : std::nullopt;
  }
  const double t = height / rise;
  if (!(t >= 0.0) || !(t <= most)) return std::nullopt;
  const double ab = glm::dot(direction, glm::cross(a, b)), bc = glm::dot(direction, glm::cross(b, c)),
               ca = glm::dot(direction, glm::cross(c, a));
  const bool same_side = (ab >= 0.0 && bc >= 0.0 && ca >= 0.0) || (ab <= 0.0 && bc <= 0.0 && ca <= 0.0);
  return same_side ? std::optional(t) : std::nullopt;
}

}  // namespace trocar
