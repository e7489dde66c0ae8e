// Stores a convex polyhedron with its features and their adjacency, for the walk over Voronoi regions
// (closest_features.hpp). Faces are triangles; coplanar triangles stay separate, with a flat edge between them. Flat
// bodies are two-sided sheets, and a segment or a point is a body too.
// Source: Bergeret 2000, 4.4 (convex objects). Units: metres, the body's own frame.   Checked in
// tests/cpu_collision/convex_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "geometry/part.hpp"

namespace trocar::solids {

struct ConvexBody {
  struct Edge {
    std::uint32_t vertex[2];
    std::uint32_t face[2];  // kNone, kNone for a body that is one segment
    bool flat;              // both faces lie in one plane and have the same normal
  };
  struct Face {
    std::uint32_t vertex[3];  // counter-clockwise seen from outside
    std::uint32_t edge[3];    // edge[i] joins vertex[i] and vertex[i + 1]
    glm::dvec3 normal;        // unit, outward
    double offset;            // m; normal . x = offset on the face
  };
  static constexpr std::uint32_t kNone = 0xffffffffu;

  std::vector<glm::dvec3> vertices;                // [vertex] m
  std::vector<Edge> edges;                         // [edge]
  std::vector<Face> faces;                         // [face]
  std::vector<std::uint32_t> first_incident_edge;  // [vertex + 1] offset into the next array
  std::vector<std::uint32_t> incident_edges;       // incident edges of each vertex
  glm::dvec3 centre{0.0};                          // m    of the bounding sphere
  double radius = 0.0;                             // m
  glm::dvec3 low{0.0}, high{0.0};                  // m    bounding box
  int dimension = 0;                               // 3 solid, 2 flat, 1 segment, 0 point

  std::span<const std::uint32_t> incident_edges_of(std::uint32_t vertex) const {  // [incident edge]
    return std::span(incident_edges)
        .subspan(first_incident_edge[vertex], first_incident_edge[vertex + 1] - first_incident_edge[vertex]);
  }
  Triangle corners(std::uint32_t face) const {  // m, counter-clockwise seen from outside
    const Face& f = faces[face];
    return {vertices[f.vertex[0]], vertices[f.vertex[1]], vertices[f.vertex[2]]};
  }
  double volume() const;  // m^3
};

// Returns the convex hull of the points, [point] m. Exact on float coordinates, so that its surface is closed and
// convex for any input. Throws InputError when there is no point or a coordinate is not finite. Cost: O(points x
// faces).
ConvexBody convex_hull(std::span<const glm::vec3> points);
// Does the same, with the same errors, without faces thinner than `thinnest` (m, > 0): removes the apex opposite the
// longest side of each thinner face and rebuilds, until there is none; `points`: [point] m. Each removed apex shrinks
// the hull there by at most `thinnest`.
ConvexBody tidy_hull(std::span<const glm::vec3> points, double thinnest);

// Returns a triangle as a two-sided sheet; corners may coincide. reset_triangle() changes a body made by
// triangle_body() and allocates nothing.
ConvexBody triangle_body(const Triangle& triangle);
// `body`: made by triangle_body(). Its arrays keep their size.
void reset_triangle(ConvexBody& body, const Triangle& triangle);

// Returns the largest signed height of the point above the face planes, m; negative inside. `face` receives that face.
// The body must be solid or a sheet.
double height_above(const ConvexBody& body, const glm::dvec3& point, std::uint32_t& face);

// Makes the shape of a part from the corners of its drawn mesh: a polytope of few corners plus a ball, close to the
// convex hull of the mesh.

// Corners that lie within this distance of the hull of the other corners are left out.
constexpr double kNearlyInside = 3e-5;  // m

// Returns a shape without hinge. `points`: [corner of the drawn mesh] m. The points' hull is shrunk towards the centre
// of its box, so that polytope and ball together have the same box; `radius` of the ball is reduced to the box's
// smallest half side, but at least kSmallestRadius, m. Throws InputError when there is no point, a coordinate is not
// finite, or more than kMostCorners corners remain.
PartShape part_hull(std::span<const glm::vec3> points, double radius);

}  // namespace trocar::solids
