// Implements the winged edge: one record per edge holds its two ends, two faces and four neighbouring edges.
// Source: Baumgart, "Winged-edge polyhedron representation", Stanford CS-320, 1972; section 3.2.1 of the thesis. It
// serves the comparison in edge_structures.cpp and accepts closed or open, consistently oriented triangle meshes.
#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "bench/edge_sides.hpp"

namespace trocar::bench {

struct WingedEdge {
  std::array<std::uint32_t, 2> vertex;  // from vertex[0] to vertex[1]
  std::array<std::uint32_t, 2> face;    // left, right; kNone: a hole
  // [end] the neighbours around vertex[end]: the next counter-clockwise and the next clockwise; kNone at a hole. The
  // left face is counter-clockwise of the edge at vertex[0], the right face at vertex[1].
  std::array<std::uint32_t, 2> against, with;
};

struct WingedEdges {
  std::vector<WingedEdge> edges;
  std::vector<std::uint32_t> edge_of_vertex, edge_of_face;

  std::size_t bytes() const {
    return edges.size() * sizeof(WingedEdge) + 4 * (edge_of_vertex.size() + edge_of_face.size());
  }
  int end_at(std::uint32_t e, std::uint32_t v) const { return edges[e].vertex[0] == v ? 0 : 1; }
};

inline WingedEdges winged_edges(std::size_t vertex_count, std::span<const glm::uvec3> faces) {
  const std::vector<Side> sides = sorted_sides(faces);
  WingedEdges mesh{{}, std::vector(vertex_count, kNone), std::vector(faces.size(), kNone)};
  std::vector<std::uint32_t> edge_of_side(3 * faces.size());
  mesh.edges.reserve(sides.size() / 2);
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const std::uint32_t h = sides[i].half_edge;
    if (i > 0 && sides[i - 1].key == sides[i].key) {
      mesh.edges.back().face[1] = h / 3;
    } else {
      mesh.edges.push_back({{start_of(faces, h), end_of(faces, h)}, {h / 3, kNone}, {kNone, kNone}, {kNone, kNone}});
    }
    edge_of_side[h] = static_cast<std::uint32_t>(mesh.edges.size() - 1);
  }
  for (std::uint32_t h = 0; h < edge_of_side.size(); ++h) {
    const std::uint32_t e = edge_of_side[h];
    WingedEdge& edge = mesh.edges[e];
    const bool left = edge.face[0] == h / 3;
    // The edges before and after e in this face: at e's end where the face is counter-clockwise, and at the other end.
    edge.against[left ? 0 : 1] = edge_of_side[previous_side(h)];
    edge.with[left ? 1 : 0] = edge_of_side[next_side(h)];
    mesh.edge_of_face[h / 3] = e;
    // The traversal of an open fan goes counter-clockwise: it starts at the edge without a clockwise neighbour.
    std::uint32_t& chosen = mesh.edge_of_vertex[start_of(faces, h)];
    if (chosen == kNone || edge.face[left ? 1 : 0] == kNone) chosen = e;
  }
  return mesh;
}

// Visits the edges around v, counter-clockwise.
template <class Visit>
void for_each_edge(const WingedEdges& mesh, std::uint32_t v, Visit visit) {
  const std::uint32_t first = mesh.edge_of_vertex[v];
  for (std::uint32_t e = first; e != kNone;) {
    const int end = mesh.end_at(e, v);
    visit(e, end);
    e = mesh.edges[e].against[end];
    if (e == first) return;
  }
}

// Visits the edges of a face, counter-clockwise; side 0: the face is on the edge's left.
template <class Visit>
void for_each_side(const WingedEdges& mesh, std::uint32_t face, Visit visit) {
  const std::uint32_t first = mesh.edge_of_face[face];
  std::uint32_t e = first;
  do {
    const int side = mesh.edges[e].face[0] == face ? 0 : 1;
    visit(e, side);
    e = mesh.edges[e].with[1 - side];
  } while (e != first);
}

// Flips the edge between two triangles to the other diagonal. Returns false at a hole.
inline bool flip(WingedEdges& mesh, std::uint32_t e) {
  WingedEdge& edge = mesh.edges[e];
  if (edge.face[0] == kNone || edge.face[1] == kNone) return false;
  const auto [a, b] = edge.vertex;
  const auto [left, right] = edge.face;
  // The quadrilateral a, d, b, c counter-clockwise: d right, c left.
  const std::uint32_t bc = edge.with[1], ca = edge.against[0], ad = edge.with[0], db = edge.against[1];
  const auto far_end = [&](std::uint32_t x, std::uint32_t v) { return mesh.edges[x].vertex[1 - mesh.end_at(x, v)]; };
  const std::uint32_t c = far_end(ca, a), d = far_end(ad, a);
  const auto move_face = [&](std::uint32_t x, std::uint32_t from, std::uint32_t to) {
    mesh.edges[x].face[mesh.edges[x].face[0] == from ? 0 : 1] = to;
  };
  // Around each corner: neighbours `low` and then, counter-clockwise, `high`.
  const auto link = [&](std::uint32_t v, std::uint32_t low, std::uint32_t high) {
    mesh.edges[low].against[mesh.end_at(low, v)] = high;
    mesh.edges[high].with[mesh.end_at(high, v)] = low;
  };
  edge.vertex = {d, c};
  move_face(ad, right, left);  // left of d -> c now: d, c, a
  move_face(bc, left, right);
  link(a, ad, ca);
  link(b, bc, db);
  link(c, ca, e), link(c, e, bc);
  link(d, db, e), link(d, e, ad);
  mesh.edge_of_face[left] = mesh.edge_of_face[right] = e;
  mesh.edge_of_vertex[a] = ad;
  mesh.edge_of_vertex[b] = bc;
  return true;
}

}  // namespace trocar::bench
