// Half-edge adjacency of a triangle mesh: who lies across each edge, around each vertex, along each hole.
// Half-edge h belongs to face h / 3 and runs from that face's corner h % 3 to the next corner, so `next` and `face` are
// arithmetic. Tolerant of any input: what is not a clean edge has no opposite and is counted.
// Tested in tests/mesh/half_edge_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <limits>
#include <span>
#include <vector>

namespace trocar {

constexpr std::uint32_t kNoHalfEdge = std::numeric_limits<std::uint32_t>::max();

constexpr std::uint32_t face_of(std::uint32_t h) { return h / 3; }
constexpr std::uint32_t next_in_face(std::uint32_t h) { return h % 3 == 2 ? h - 2 : h + 1; }
constexpr std::uint32_t previous_in_face(std::uint32_t h) { return h % 3 == 0 ? h + 2 : h - 1; }

enum class EdgeKind : std::uint8_t {
  Paired,        // two faces, running through it in opposite directions
  Boundary,      // one face
  Inconsistent,  // two faces, both running through it in the same direction: one of them is turned over
  NonManifold,   // three faces or more
  Degenerate     // of a face that names a vertex twice; such a face takes no part in the adjacency
};

struct HalfEdges {
  std::vector<std::uint32_t> vertex;    // [half-edge] where it starts
  std::vector<std::uint32_t> opposite;  // [half-edge] the same edge in the neighbouring face; kNoHalfEdge unless Paired
  std::vector<EdgeKind> kind;           // [half-edge]
  std::vector<std::uint32_t>
      outgoing;  // [vertex] one that starts there, a fan's first if it has an end; kNoHalfEdge: none

  // Edges, each counted once. The degenerate ones are not counted.
  std::size_t edges = 0, boundary_edges = 0, inconsistent_edges = 0, non_manifold_edges = 0;
  // Vertices whose faces form more than one fan. (A fan continues across an inconsistent edge.)
  std::size_t non_manifold_vertices = 0;

  std::uint32_t end(std::uint32_t h) const { return vertex[next_in_face(h)]; }
};

// Faces must name vertices below `vertex_count`.
HalfEdges half_edges(std::size_t vertex_count, std::span<const glm::uvec3> faces);

// Half-edges starting at v, from face to neighbouring face; of a non-manifold vertex one fan only.
template <class Visit>
void for_each_outgoing(const HalfEdges& mesh, std::uint32_t v, Visit visit) {
  const std::uint32_t first = mesh.outgoing[v];
  for (std::uint32_t h = first; h != kNoHalfEdge;) {
    visit(h);
    h = mesh.opposite[previous_in_face(h)];
    if (h == first) return;
  }
}

// The neighbours of v in order around it; the last one of an open fan included.
template <class Visit>
void for_each_neighbour(const HalfEdges& mesh, std::uint32_t v, Visit visit) {
  std::uint32_t last = kNoHalfEdge;
  for_each_outgoing(mesh, v, [&](std::uint32_t h) {
    visit(mesh.end(h));
    last = h;
  });
  if (last != kNoHalfEdge && mesh.opposite[previous_in_face(last)] == kNoHalfEdge)
    visit(mesh.vertex[previous_in_face(last)]);
}

// The rims of the holes: boundary half-edges in order, each beginning where the one before it ends.
struct BoundaryLoops {
  std::vector<std::uint32_t> half_edges;  // [edge]
  std::vector<std::uint32_t> first;       // [loop + 1] edges of loop k are first[k] .. first[k + 1]

  std::size_t count() const { return first.size() - 1; }
  std::span<const std::uint32_t> of_loop(std::size_t k) const {
    return std::span(half_edges).subspan(first[k], first[k + 1] - first[k]);
  }
};

// On a mesh with inconsistent edges a rim may end where the orientation turns over; it is then a chain, not a ring.
BoundaryLoops boundary_loops(const HalfEdges& mesh);

// Connected pieces by shared vertices: [face] number of its component, from 0 in order of first appearance.
std::vector<std::uint32_t> face_components(std::size_t vertex_count, std::span<const glm::uvec3> faces);

}  // namespace trocar
