#include "geometry/line_triangle.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/closest.hpp"
#include "geometry/refine.hpp"

namespace trocar {
namespace {

// Two lines in one plane count as meeting when they come this close, as a part of the coordinates.
constexpr double kSamePlace = 1e-14;

double size_of(const glm::dvec3& p) { return std::max({std::abs(p.x), std::abs(p.y), std::abs(p.z)}); }

// How much of the line can reach the triangle: it may have no end.
double useful_length(const glm::dvec3& origin, const glm::dvec3& direction, const Triangle& face) {
  const double length = glm::length(direction);
  if (!(length > 0.0)) return 0.0;
  const double far =
      std::max({glm::distance(origin, face.a), glm::distance(origin, face.b), glm::distance(origin, face.c)});
  return 2.0 * far / length;
}

// The first common point of a segment and a triangle in one plane: an end inside it, or a crossing with a side.
std::optional<double> meet_in_plane(const glm::dvec3& origin, const glm::dvec3& step, const Triangle& face) {
  const double near =
      kSamePlace * (size_of(origin) + size_of(step) + size_of(face.a) + size_of(face.b) + size_of(face.c));
  if (closest_segment_triangle(origin, origin, face).distance <= near) return 0.0;
  std::optional<double> first;
  const closest::Segment line = closest::segment(origin, origin + step);
  const glm::dvec3 corner[] = {face.a, face.b, face.c};
  for (int k = 0; k < 3; ++k) {
    const closest::SegmentPair pair = closest::closest_segments(line, closest::segment(corner[k], corner[(k + 1) % 3]));
    if (std::sqrt(pair.squared) <= near && (!first || pair.u < *first)) first = pair.u;
  }
  return first;
}

}  // namespace

std::optional<double> line_meets_triangle(const glm::dvec3& origin, const glm::dvec3& direction, double most,
                                          const Triangle& face) {
  const glm::dvec3 a = face.a - origin, b = face.b - origin, c = face.c - origin;
  const glm::dvec3 normal = glm::cross(b - a, c - a);
  const double height = glm::dot(normal, a), rise = glm::dot(normal, direction);
  if (rise == 0.0) {
    if (height != 0.0) return std::nullopt;
    const double length = useful_length(origin, direction, face);
    const auto share = meet_in_plane(origin, length * direction, face);
    if (!share || *share * length > most) return std::nullopt;
    return *share * length;
  }
  const double t = height / rise;
  if (!(t >= 0.0) || !(t <= most)) return std::nullopt;
  const double ab = glm::dot(direction, glm::cross(a, b)), bc = glm::dot(direction, glm::cross(b, c)),
               ca = glm::dot(direction, glm::cross(c, a));
  const bool same_side = (ab >= 0.0 && bc >= 0.0 && ca >= 0.0) || (ab <= 0.0 && bc <= 0.0 && ca <= 0.0);
  return same_side ? std::optional(t) : std::nullopt;
}

}  // namespace trocar
