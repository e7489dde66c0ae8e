// Implements the quad edge: every edge is stored four times, as itself and its dual in both directions, and each links
// to the next around its origin.
// Source: Guibas, Stolfi, "Primitives for the manipulation of general subdivisions and the computation of Voronoi
// diagrams", ACM TOG 1985; section 3.2.2 of the thesis. It serves the comparison in edge_structures.cpp and accepts
// oriented triangle meshes; a hole is a face without a number.
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <utility>
#include <vector>

#include "bench/edge_sides.hpp"

namespace trocar::bench {

// Quarter q belongs to edge q / 4. Even: from vertex to vertex; odd: from the face on one side to the other.
constexpr std::uint32_t rot(std::uint32_t q) { return (q & ~3u) | ((q + 1) & 3u); }
constexpr std::uint32_t sym(std::uint32_t q) { return q ^ 2u; }
constexpr std::uint32_t inverse_rot(std::uint32_t q) { return (q & ~3u) | ((q + 3) & 3u); }

struct QuadEdges {
  struct Quarter {
    std::uint32_t next;    // around the origin, counter-clockwise
    std::uint32_t origin;  // vertex of an even quarter, face of an odd one; kNone: a hole
  };
  std::vector<Quarter> quarters;                                  // [4 * edge + 0 .. 3]
  std::vector<std::uint32_t> quarter_of_vertex, quarter_of_face;  // even; the face lies on its left

  std::size_t bytes() const {
    return quarters.size() * sizeof(Quarter) + 4 * (quarter_of_vertex.size() + quarter_of_face.size());
  }
  std::uint32_t origin(std::uint32_t q) const { return quarters[q].origin; }
  std::uint32_t destination(std::uint32_t q) const { return quarters[sym(q)].origin; }
  std::uint32_t left(std::uint32_t q) const { return quarters[inverse_rot(q)].origin; }
  std::uint32_t right(std::uint32_t q) const { return quarters[rot(q)].origin; }
  std::uint32_t next(std::uint32_t q) const { return quarters[q].next; }
  std::uint32_t previous(std::uint32_t q) const { return rot(next(rot(q))); }
  std::uint32_t next_left(std::uint32_t q) const { return rot(next(inverse_rot(q))); }
};

// Joins or separates the rings of two quarters.
inline void splice(QuadEdges& mesh, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t alpha = rot(mesh.next(a)), beta = rot(mesh.next(b));
  std::swap(mesh.quarters[a].next, mesh.quarters[b].next);
  std::swap(mesh.quarters[alpha].next, mesh.quarters[beta].next);
}

inline QuadEdges quad_edges(std::size_t vertex_count, std::span<const glm::uvec3> faces) {
  const std::vector<Side> sides = sorted_sides(faces);
  QuadEdges mesh{{}, std::vector(vertex_count, kNone), std::vector(faces.size(), kNone)};
  std::vector<std::uint32_t> quarter_of_side(3 * faces.size()), rims;
  mesh.quarters.reserve(2 * sides.size());
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const std::uint32_t h = sides[i].half_edge;
    std::uint32_t q = static_cast<std::uint32_t>(mesh.quarters.size());
    if (i > 0 && sides[i - 1].key == sides[i].key) {
      q = sym(q - 4);
    } else {
      mesh.quarters.insert(mesh.quarters.end(), 4, {kNone, kNone});
      if (i + 1 == sides.size() || sides[i + 1].key != sides[i].key) rims.push_back(sym(q));
      mesh.quarters[sym(q)].origin = end_of(faces, h);
    }
    mesh.quarters[q].origin = start_of(faces, h);
    mesh.quarters[inverse_rot(q)].origin = h / 3;
    quarter_of_side[h] = q;
    mesh.quarter_of_vertex[start_of(faces, h)] = q;
    mesh.quarter_of_face[h / 3] = q;
  }
  // Links e and then f along the face on their left.
  const auto join = [&mesh](std::uint32_t e, std::uint32_t f) {
    mesh.quarters[f].next = sym(e);
    mesh.quarters[inverse_rot(e)].next = inverse_rot(f);
  };
  for (std::uint32_t h = 0; h < quarter_of_side.size(); ++h) join(quarter_of_side[h], quarter_of_side[next_side(h)]);
  for (const std::uint32_t e :
       rims) {  // around the boundary edge's end, through the fan's faces, to its other boundary edge
    std::uint32_t f = sym(e);
    while (mesh.left(f) != kNone) f = mesh.next(f);
    join(e, f);
  }
  return mesh;
}

// Visits the quarters that start at v, counter-clockwise, once around, also across holes.
template <class Visit>
void for_each_quarter(const QuadEdges& mesh, std::uint32_t v, Visit visit) {
  const std::uint32_t first = mesh.quarter_of_vertex[v];
  if (first == kNone) return;
  std::uint32_t q = first;
  do {
    visit(q);
    q = mesh.next(q);
  } while (q != first);
}

// The quarters along a face that lies on their left.
template <class Visit>
void for_each_side(const QuadEdges& mesh, std::uint32_t face, Visit visit) {
  const std::uint32_t first = mesh.quarter_of_face[face];
  std::uint32_t q = first;
  do {
    visit(q);
    q = mesh.next_left(q);
  } while (q != first);
}

// Flips the edge between two triangles to the other diagonal. Returns false at a hole.
inline bool flip(QuadEdges& mesh, std::uint32_t edge) {
  const std::uint32_t e = 4 * edge, left = mesh.left(e), right = mesh.right(e);
  if (left == kNone || right == kNone) return false;
  const std::uint32_t a = mesh.previous(e), b = mesh.previous(sym(e));
  mesh.quarter_of_vertex[mesh.origin(e)] = a;
  mesh.quarter_of_vertex[mesh.destination(e)] = b;
  splice(mesh, e, a);
  splice(mesh, sym(e), b);
  splice(mesh, e, mesh.next_left(a));
  splice(mesh, sym(e), mesh.next_left(b));
  mesh.quarters[e].origin = mesh.destination(a);
  mesh.quarters[sym(e)].origin = mesh.destination(b);
  for (const auto& [q, face] : {std::pair(e, left), {sym(e), right}}) {
    mesh.quarter_of_face[face] = q;
    for (std::uint32_t side = q, i = 0; i < 3; ++i, side = mesh.next_left(side))
      mesh.quarters[inverse_rot(side)].origin = face;
  }
  return true;
}

}  // namespace trocar::bench
