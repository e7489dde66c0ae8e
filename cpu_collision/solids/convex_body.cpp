#include "cpu_collision/solids/convex_body.hpp"

#include <limits>

namespace trocar::solids {

double ConvexBody::volume() const {
  double sixfold = 0.0;
  for (std::uint32_t f = 0; f < faces.size(); ++f) {
    const Triangle t = corners(f);
    sixfold += glm::dot(t.a - centre, glm::cross(t.b - centre, t.c - centre));
  }
  return sixfold / 6.0;
}

std::uint32_t farthest_vertex(const ConvexBody& body, const glm::dvec3& direction) {
  std::uint32_t best = 0;
  double reach = -std::numeric_limits<double>::infinity();
  for (std::uint32_t v = 0; v < body.vertices.size(); ++v) {
    const double along = glm::dot(direction, body.vertices[v]);
    if (along > reach) reach = along, best = v;
  }
  return best;
}

double height_above(const ConvexBody& body, const glm::dvec3& point, std::uint32_t& face) {
  double highest = -std::numeric_limits<double>::infinity();
  for (std::uint32_t f = 0; f < body.faces.size(); ++f) {
    const double height = glm::dot(body.faces[f].normal, point) - body.faces[f].offset;
    if (height > highest) highest = height, face = f;
  }
  return highest;
}

}  // namespace trocar::solids
