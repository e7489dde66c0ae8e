// Computes the half-edge adjacency of a triangle mesh: neighbours across each edge, around each vertex, along each
// hole.
// Half-edge h belongs to face h / 3 and runs from that face's corner h % 3 to the next corner, so `next` and `face` are
// arithmetic. Accepts any input: an edge that is not manifold and consistently oriented has no opposite and is counted.
// Tested in tests/mesh/mesh_report_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <limits>
#include <span>
#include <vector>

namespace trocar {

constexpr std::uint32_t kNoHalfEdge = std::numeric_limits<std::uint32_t>::max();

constexpr std::uint32_t face_of(std::uint32_t h) { return h / 3; }                                // its number
constexpr std::uint32_t next_in_face(std::uint32_t h) { return h % 3 == 2 ? h - 2 : h + 1; }      // half-edge after h
constexpr std::uint32_t previous_in_face(std::uint32_t h) { return h % 3 == 0 ? h + 2 : h - 1; }  // half-edge before h

enum class EdgeKind : std::uint8_t {
  Paired,        // two faces, with opposite directions along the edge: manifold and consistently oriented
  Boundary,      // one face
  Inconsistent,  // two faces with the same direction along the edge: one of them is flipped
  NonManifold,   // three faces or more
  Degenerate     // of a face that uses a vertex twice; such a face is excluded from the adjacency
};

struct HalfEdges {
  std::vector<std::uint32_t> vertex;    // [half-edge] its start
  std::vector<std::uint32_t> opposite;  // [half-edge] the same edge in the neighbouring face; kNoHalfEdge unless Paired
  std::vector<EdgeKind> kind;           // [half-edge]
  std::vector<std::uint32_t> outgoing;  // [vertex] one that starts there, the first of an open fan; kNoHalfEdge: none

  // Edges, each counted once, without the degenerate ones.
  std::size_t edges = 0, boundary_edges = 0, inconsistent_edges = 0, non_manifold_edges = 0;
  // Vertices whose faces form more than one fan. (A fan continues across an inconsistent edge.)
  std::size_t non_manifold_vertices = 0;

  std::uint32_t end(std::uint32_t h) const { return vertex[next_in_face(h)]; }  // vertex
};

// Computes the adjacency. The corners of the faces, [face], must be below `vertex_count`.
HalfEdges half_edges(std::size_t vertex_count, std::span<const glm::uvec3> faces);

// Visits the half-edges that start at v, from face to neighbouring face. At a non-manifold vertex it visits only one
// fan.
template <class Visit>
void for_each_outgoing(const HalfEdges& mesh, std::uint32_t v, Visit visit) {
  const std::uint32_t first = mesh.outgoing[v];
  for (std::uint32_t h = first; h != kNoHalfEdge;) {
    visit(h);
    h = mesh.opposite[previous_in_face(h)];
    if (h == first) return;
  }
}

// Visits the neighbours of v in order, including the last one of an open fan.
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

// The boundaries of the holes: boundary half-edges in order, each starts where the previous one ends.
struct BoundaryLoops {
  std::vector<std::uint32_t> half_edges;  // [edge]
  std::vector<std::uint32_t> first;       // [loop + 1] edges of loop k are first[k] .. first[k + 1]

  std::size_t count() const { return first.size() - 1; }         // loops; `first` is not empty
  std::span<const std::uint32_t> of_loop(std::size_t k) const {  // [edge] half-edges
    return std::span(half_edges).subspan(first[k], first[k + 1] - first[k]);
  }
};

// On a mesh with inconsistent edges a boundary may end where the orientation flips; it is then an open chain.
BoundaryLoops boundary_loops(const HalfEdges& mesh);

// Returns the connected components by shared vertices: [face] index of its component, from 0 in order of first
// appearance.
std::vector<std::uint32_t> face_components(std::size_t vertex_count, std::span<const glm::uvec3> faces);

}  // namespace trocar
