#include "cpu_collision/solids/convex_body.hpp"

#include <algorithm>
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

ConvexBody triangle_body(const Triangle& triangle) {
  ConvexBody body;
  body.dimension = 2;
  body.vertices.resize(3);
  for (std::uint32_t i = 0; i < 3; ++i) body.edges.push_back({{i, (i + 1) % 3}, {0, 1}, false});
  body.faces = {{{0, 1, 2}, {0, 1, 2}, {}, 0.0}, {{0, 2, 1}, {2, 1, 0}, {}, 0.0}};
  body.first_incident_edge = {0, 2, 4, 6};
  body.incident_edges = {0, 2, 0, 1, 1, 2};
  reset_triangle(body, triangle);
  return body;
}

void reset_triangle(ConvexBody& body, const Triangle& triangle) {
  const glm::dvec3 &a = triangle.a, &b = triangle.b, &c = triangle.c;
  body.vertices[0] = a, body.vertices[1] = b, body.vertices[2] = c;
  const glm::dvec3 normal = glm::cross(b - a, c - a);
  const double length = glm::length(normal);
  const glm::dvec3 unit = length > 0.0 ? normal / length : glm::dvec3(0.0);
  // A face without area bounds nothing: see convex_hull().
  const double offset = length > 0.0 ? glm::dot(unit, a) : std::numeric_limits<double>::infinity();
  body.faces[0].normal = unit, body.faces[0].offset = offset;
  body.faces[1].normal = -unit, body.faces[1].offset = length > 0.0 ? -offset : offset;
  body.low = glm::min(glm::min(a, b), c), body.high = glm::max(glm::max(a, b), c);
  body.centre = (a + b + c) / 3.0;
  body.radius = std::max({glm::distance(a, body.centre), glm::distance(b, body.centre), glm::distance(c, body.centre)});
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
