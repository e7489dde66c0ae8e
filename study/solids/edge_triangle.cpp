#include "study/solids/edge_triangle.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "geometry/closest.hpp"
#include "geometry/elementary.hpp"
#include "mesh/exact_sign.hpp"

namespace trocar::solids {
namespace {

using glm::dvec3;

// A triangle with the quantities that both tests need.
struct Plate {
  Triangle corners;
  dvec3 normal;         // not unit: twice the area long
  double twice_area;    // m^2
  double longest_side;  // m
};

Plate plate_of(const Triangle& t) {
  const dvec3 normal = glm::cross(t.b - t.a, t.c - t.a);
  const double longest = std::max({glm::distance(t.a, t.b), glm::distance(t.b, t.c), glm::distance(t.c, t.a)});
  return {t, normal, glm::length(normal), longest};
}

// The point is inside when T1 + T2 + T3 <= T. At a distance h outside a side of length s, the sum is larger by s h.
bool inside_by_area(const dvec3& p, const Plate& plate, double tolerance) {
  const dvec3 a = plate.corners.a - p, b = plate.corners.b - p, c = plate.corners.c - p;
  const double sum = glm::length(glm::cross(a, b)) + glm::length(glm::cross(b, c)) + glm::length(glm::cross(c, a));
  return sum <= plate.twice_area * (1.0 + tolerance) + tolerance * tolerance * plate.longest_side * plate.longest_side;
}

// Returns the signed angle at p from a to b about the normal, rad. On the side itself it is half a turn of either sign.
double angle_between(const dvec3& a, const dvec3& b, const dvec3& unit_normal) {
  return elementary::atan2(glm::dot(glm::cross(a, b), unit_normal), glm::dot(a, b));
}

bool inside_by_angle(const dvec3& p, const Plate& plate, double tolerance) {
  constexpr double kHalfTurn = std::numbers::pi;
  const dvec3 unit = plate.normal / plate.twice_area;
  const dvec3 corners[3] = {plate.corners.a - p, plate.corners.b - p, plate.corners.c - p};
  double sum = 0.0;
  for (int i = 0; i < 3; ++i) {
    if (glm::length(corners[i]) <= tolerance * plate.longest_side) return true;
    const double angle = angle_between(corners[i], corners[(i + 1) % 3], unit);
    if (std::abs(angle) >= kHalfTurn * (1.0 - tolerance)) return true;
    sum += angle;
  }
  return sum > kHalfTurn;
}

template <class Inside>
bool overlaps_in_plane(const dvec3& from, const dvec3& to, const Plate& plate, double tolerance, Inside inside) {
  if (inside(from, plate, tolerance) || inside(to, plate, tolerance)) return true;
  const double margin = tolerance * plate.longest_side;
  const closest::Segment edge = closest::segment(from, to);
  for (const closest::Segment& side : closest::face(plate.corners).side) {
    if (closest::closest_segments(edge, side).squared <= margin * margin) return true;
  }
  return false;
}

template <class Inside>
EdgeVerdict edge_triangle(const dvec3& from, const dvec3& to, const Triangle& triangle, double tolerance,
                          Inside inside) {
  const Plate plate = plate_of(triangle);
  if (plate.twice_area <= tolerance * plate.longest_side * plate.longest_side) return EdgeVerdict::Apart;
  const dvec3 edge = to - from, unit = plate.normal / plate.twice_area;
  const double height_from = glm::dot(unit, from - triangle.a), height_to = glm::dot(unit, to - triangle.a);
  const double margin = tolerance * plate.longest_side;
  if (std::abs(height_from) <= margin && std::abs(height_to) <= margin) {
    return overlaps_in_plane(from, to, plate, tolerance, inside) ? EdgeVerdict::InPlane : EdgeVerdict::Apart;
  }
  if (std::min(height_from, height_to) > margin || std::max(height_from, height_to) < -margin)
    return EdgeVerdict::Apart;
  const double t = std::clamp(height_from / (height_from - height_to), 0.0, 1.0);
  return inside(from + t * edge, plate, tolerance) ? EdgeVerdict::Meets : EdgeVerdict::Apart;
}

}  // namespace

EdgeVerdict edge_triangle_by_area(const dvec3& from, const dvec3& to, const Triangle& triangle,
                                  const EdgeTriangleParams& params) {
  return edge_triangle(from, to, triangle, params.tolerance, inside_by_area);
}

EdgeVerdict edge_triangle_by_angle(const dvec3& from, const dvec3& to, const Triangle& triangle,
                                   const EdgeTriangleParams& params) {
  return edge_triangle(from, to, triangle, params.tolerance, inside_by_angle);
}

namespace {

using Corners = glm::vec3[3];

bool edge_meets(const glm::vec3& from, const glm::vec3& to, const Corners& t, EdgeTest test) {
  const Triangle triangle{glm::dvec3(t[0]), glm::dvec3(t[1]), glm::dvec3(t[2])};
  const glm::dvec3 p(from), q(to);
  const EdgeVerdict verdict =
      test == EdgeTest::Area ? edge_triangle_by_area(p, q, triangle) : edge_triangle_by_angle(p, q, triangle);
  return verdict != EdgeVerdict::Apart;
}

bool any_edge_meets(const Corners& edges, const Corners& face, EdgeTest test) {
  return edge_meets(edges[0], edges[1], face, test) || edge_meets(edges[1], edges[2], face, test) ||
         edge_meets(edges[2], edges[0], face, test);
}

}  // namespace

bool faces_cross(const Corners& first, const Corners& second, EdgeTest test) {
  if (test == EdgeTest::Exact) return faces_cross_exactly(first, second);
  return any_edge_meets(first, second, test) || any_edge_meets(second, first, test);
}

void crossing_pairs(const MeshView& first, const MeshView& second, EdgeTest test,
                    std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs) {
  pairs.clear();
  for (std::uint32_t f = 0; f < first.faces.size(); ++f) {
    const glm::uvec3 v = first.faces[f];
    const Corners s = {first.positions[v.x], first.positions[v.y], first.positions[v.z]};
    for (std::uint32_t g = 0; g < second.faces.size(); ++g) {
      const glm::uvec3 w = second.faces[g];
      const Corners t = {second.positions[w.x], second.positions[w.y], second.positions[w.z]};
      if (faces_cross(s, t, test)) pairs.emplace_back(f, g);
    }
  }
}

}  // namespace trocar::solids
