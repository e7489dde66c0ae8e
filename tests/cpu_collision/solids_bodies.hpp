// Makes random convex bodies and poses, and measures the distance between two bodies by brute force over triangles.
// Units: metres.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "cpu_collision/solids/convex_body.hpp"
#include "geometry/frame.hpp"
#include "geometry/refine.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar::test {

inline glm::dmat3 rotation(const dvec3& axis, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  const dvec3 a = axis;
  const glm::dmat3 cross(0.0, a.z, -a.y, -a.z, 0.0, a.x, a.y, -a.x, 0.0);
  return glm::dmat3(c) + s * cross + (1.0 - c) * glm::outerProduct(a, a);
}

inline RigidFrame random_pose(Dice& dice, double extent) {
  const dvec3 axis = dice.direction();
  return {rotation(axis, dice.uniform(0.0, 3.14159)), dice.in_cube(extent)};
}

// Returns a point cloud of about `size`: round, boxy, thin, on a grid (many coplanar faces), a sheet, a segment or a
// point.
inline std::vector<glm::vec3> random_cloud(Dice& dice, double size, int most_points) {
  std::vector<glm::vec3> points(4 + dice.pick(most_points - 3));
  const int kind = dice.pick(12);
  const double thin = dice.log_uniform(1e-4, 1.0);
  const dvec3 direction = dice.direction();
  for (glm::vec3& p : points) {
    switch (kind) {
      case 0:
        p = glm::vec3(size * thin * (dvec3{dice.pick(3), dice.pick(3), dice.pick(3)} - 1.0));
        break;
      case 1:
        p = glm::vec3(size * (dvec3{dice.pick(2), dice.pick(2), dice.pick(2)} - 0.5));
        break;
      case 2:
        p = glm::vec3(size * dvec3{dice.uniform(-1, 1), dice.uniform(-1, 1), 0.0});
        break;
      case 3:
        p = glm::vec3(size * dvec3(dice.uniform(-1, 1), 0.0, 0.0));
        break;
      case 4:
        p = glm::vec3(size * direction);
        break;
      case 5:
        p = glm::vec3(size * dice.in_cube(1.0) * dvec3(1.0, 1.0, thin));
        break;
      default:
        p = glm::vec3(size * (kind % 2 ? dice.direction() : dice.in_cube(1.0)));
    }
  }
  return points;
}

// Returns the surface as triangles in the world; a segment or a point as a triangle without area.
inline std::vector<Triangle> surface_of(const solids::ConvexBody& body, const RigidFrame& pose) {
  std::vector<Triangle> surface;
  for (std::uint32_t f = 0; f < body.faces.size(); ++f) {
    const Triangle t = body.corners(f);
    surface.push_back({pose.to_world(t.a), pose.to_world(t.b), pose.to_world(t.c)});
  }
  if (surface.empty()) {
    const dvec3 a = pose.to_world(body.vertices.front()), b = pose.to_world(body.vertices.back());
    surface.push_back({a, b, b});
  }
  return surface;
}

inline bool inside(const solids::ConvexBody& body, const RigidFrame& pose, const dvec3& point) {
  if (body.dimension < 3) return false;
  const dvec3 local = pose.to_local(point);
  return std::all_of(body.faces.begin(), body.faces.end(),
                     [&](const auto& f) { return glm::dot(f.normal, local) <= f.offset; });
}

struct SlowDistance {
  double distance;  // m; 0 when one contains the other
  double surfaces;  // m; between the surfaces
};

inline SlowDistance slow_distance(const solids::ConvexBody& a, const RigidFrame& at_a, const solids::ConvexBody& b,
                                  const RigidFrame& at_b) {
  double least = std::numeric_limits<double>::infinity();
  const auto second = surface_of(b, at_b);
  for (const Triangle& s : surface_of(a, at_a)) {
    for (const Triangle& t : second) least = std::min(least, closest_triangles(s, t).distance);
  }
  const bool nested = inside(a, at_a, at_b.to_world(b.vertices[0])) || inside(b, at_b, at_a.to_world(a.vertices[0]));
  return {nested ? 0.0 : least, least};
}

}  // namespace trocar::test
