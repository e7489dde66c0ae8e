#include "cpu_collision/solids/part_hull.hpp"

#include <algorithm>
#include <array>

#include "cpu_collision/solids/convex_body.hpp"
#include "geometry/closest.hpp"
#include "geometry/error.hpp"

namespace trocar::solids {
namespace {

// Removes, one after the other, the corner nearest to the hull of the other corners.
void leave_out_inner(std::vector<glm::dvec3>& corners) {
  std::vector<glm::dvec3> others;
  while (corners.size() > 1) {
    std::size_t nearest = corners.size();
    double least = kNearlyInside;
    for (std::size_t i = 0; i < corners.size(); ++i) {
      others = corners;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      const std::array<glm::dvec3, 1> alone{corners[i]};
      const double distance = hull_distance(others, alone).distance;
      if (distance < least) least = distance, nearest = i;
    }
    if (nearest == corners.size()) return;
    corners.erase(corners.begin() + static_cast<std::ptrdiff_t>(nearest));
  }
}

}  // namespace

PartShape part_hull(std::span<const glm::vec3> points, double radius) {
  const ConvexBody drawn = convex_hull(points);
  const glm::dvec3 centre = 0.5 * (drawn.low + drawn.high), half = 0.5 * (drawn.high - drawn.low);
  PartShape shape;
  shape.radius = std::max(kSmallestRadius, std::min({radius, half.x, half.y, half.z}));
  glm::dvec3 scale(0.0);
  for (int axis = 0; axis < 3; ++axis)
    if (half[axis] > shape.radius) scale[axis] = 1.0 - shape.radius / half[axis];
  std::vector<glm::dvec3> corners;
  for (const glm::dvec3& vertex : drawn.vertices) corners.emplace_back(glm::vec3(centre + scale * (vertex - centre)));
  leave_out_inner(corners);
  if (corners.size() > kMostCorners) throw InputError("a part of an instrument has too many corners; draw it simpler");
  std::vector<glm::vec3> rounded;
  for (const glm::dvec3& corner : corners) rounded.emplace_back(corner);
  const ConvexBody core = convex_hull(rounded);
  shape.corners = core.vertices;
  for (const ConvexBody::Face& face : core.faces)
    shape.faces.emplace_back(face.vertex[0], face.vertex[1], face.vertex[2]);
  // A point or a segment has no faces: a degenerate triangle replaces them.
  if (shape.faces.empty()) shape.faces.emplace_back(0, 0, core.vertices.size() - 1);
  return shape;
}

}  // namespace trocar::solids
