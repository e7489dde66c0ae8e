// A convex polyhedron with its features and who is next to whom: what the walk over Voronoi regions needs. Faces are
// triangles; those of one plane stay apart, with a flat edge between them. Flat bodies are two-sided sheets, and a
// segment or a point is a body too.
// Source: thesis 4.4 (convex objects). Units: metres, the body's own frame.   Checked in
// tests/cpu_collision/solids_convex_hull_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"

namespace trocar::solids {

struct ConvexBody {
  struct Edge {
    std::uint32_t vertex[2];
    std::uint32_t face[2];  // kNone, kNone for a body that is one segment
    bool flat;              // the faces lie in one plane, the same way up
  };
  struct Face {
    std::uint32_t vertex[3];  // counter-clockwise seen from outside
    std::uint32_t edge[3];    // edge[i] joins vertex[i] and vertex[i + 1]
    glm::dvec3 normal;        // unit, outward
    double offset;            // m; normal . x = offset on the face
  };
  static constexpr std::uint32_t kNone = 0xffffffffu;

  std::vector<glm::dvec3> vertices;        // [vertex] m
  std::vector<Edge> edges;                 // [edge]
  std::vector<Face> faces;                 // [face]
  std::vector<std::uint32_t> first_spoke;  // [vertex + 1] into spokes
  std::vector<std::uint32_t> spokes;       // edges at each vertex
  glm::dvec3 centre{0.0};                  // m    of the bounding sphere
  double radius = 0.0;                     // m
  glm::dvec3 low{0.0}, high{0.0};          // m    bounding box
  int dimension = 0;                       // 3 solid, 2 flat, 1 segment, 0 point

  std::span<const std::uint32_t> spokes_of(std::uint32_t vertex) const {
    return std::span(spokes).subspan(first_spoke[vertex], first_spoke[vertex + 1] - first_spoke[vertex]);
  }
  Triangle corners(std::uint32_t face) const {
    const Face& f = faces[face];
    return {vertices[f.vertex[0]], vertices[f.vertex[1]], vertices[f.vertex[2]]};
  }
  double volume() const;  // m^3
};

// The smallest convex body around the points: exact on float coordinates, so that its surface is closed and convex
// whatever the input. Error: InputError when there is no point or a coordinate is not finite. Cost: O(points x faces).
ConvexBody convex_hull(std::span<const glm::vec3> points);
// The same without faces thinner than `thinnest` (m, > 0): the corner in the middle of such a face is left out, by
// which the hull loses no more than that, once for each corner left out there. Walks cross no thinner faces.
ConvexBody tidy_hull(std::span<const glm::vec3> points, double thinnest);

// A triangle as a two-sided sheet; corners may coincide. reset_triangle() moves one made by triangle_body(), and
// allocates nothing.
ConvexBody triangle_body(const Triangle& triangle);
void reset_triangle(ConvexBody& body, const Triangle& triangle);

// How far the point lies outside the body's farthest face plane, m; negative inside. For solid bodies and sheets.
double height_above(const ConvexBody& body, const glm::dvec3& point, std::uint32_t& face);

}  // namespace trocar::solids
