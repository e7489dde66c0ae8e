// Checks convex hulls by exact signs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cpu_collision/solids/convex_body.hpp"
#include "mesh/exact_sign.hpp"

namespace trocar::solids {

// Expects, by exact signs, that the hull is closed and convex, that every edge lies between two faces, and that the
// hull contains the points.
inline void expect_exact_hull(const std::vector<glm::vec3>& points, const ConvexBody& body) {
  ASSERT_GE(body.dimension, 2);
  EXPECT_EQ(body.vertices.size() + body.faces.size(), body.edges.size() + 2);
  for (std::uint32_t e = 0; e < body.edges.size(); ++e) {
    for (const std::uint32_t f : body.edges[e].face) {
      ASSERT_LT(f, body.faces.size());
      const auto& edges = body.faces[f].edge;
      EXPECT_NE(std::find(edges, edges + 3, e), edges + 3);
    }
  }
  for (const ConvexBody::Face& f : body.faces) {
    const glm::vec3 a(body.vertices[f.vertex[0]]), b(body.vertices[f.vertex[1]]), c(body.vertices[f.vertex[2]]);
    EXPECT_GE(projection_axis(a, b, c), 0);
    for (const glm::vec3& p : points) ASSERT_GE(exact_orientation(a, b, c, p), 0);
  }
  std::size_t incident_edges = 0;
  for (std::uint32_t v = 0; v < body.vertices.size(); ++v) {
    for (const std::uint32_t e : body.incident_edges_of(v)) {
      EXPECT_TRUE(body.edges[e].vertex[0] == v || body.edges[e].vertex[1] == v);
      ++incident_edges;
    }
    EXPECT_LE(glm::distance(body.vertices[v], body.centre), body.radius);
  }
  EXPECT_EQ(incident_edges, 2 * body.edges.size());
}

}  // namespace trocar::solids
