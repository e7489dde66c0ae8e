#include "mesh/half_edge.hpp"

#include <algorithm>

#include "geometry/disjoint_sets.hpp"

namespace trocar {
namespace {

// One half-edge with its edge's vertices in order, so that sorting brings all half-edges of an edge together.
struct Side {
  std::uint32_t low, high;  // the edge's vertices
  std::uint32_t half_edge;
};

bool names_vertex_twice(const glm::uvec3& face) { return face.x == face.y || face.y == face.z || face.z == face.x; }

std::vector<Side> sorted_sides(const HalfEdges& mesh) {
  std::vector<Side> sides;
  sides.reserve(mesh.vertex.size());
  for (std::uint32_t h = 0; h < mesh.vertex.size(); ++h) {
    if (mesh.kind[h] == EdgeKind::Degenerate) continue;
    const std::uint32_t a = mesh.vertex[h], b = mesh.end(h);
    sides.push_back({std::min(a, b), std::max(a, b), h});
  }
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    if (a.low != b.low) return a.low < b.low;
    return a.high != b.high ? a.high < b.high : a.half_edge < b.half_edge;
  });
  return sides;
}

EdgeKind kind_of(const HalfEdges& mesh, std::span<const Side> sides) {
  if (sides.size() == 1) return EdgeKind::Boundary;
  if (sides.size() > 2) return EdgeKind::NonManifold;
  const bool same_way = mesh.vertex[sides[0].half_edge] == mesh.vertex[sides[1].half_edge];
  return same_way ? EdgeKind::Inconsistent : EdgeKind::Paired;
}

// Enters all half-edges of one edge.
void enter_edge(HalfEdges& mesh, std::span<const Side> sides) {
  const EdgeKind kind = kind_of(mesh, sides);
  ++mesh.edges;
  mesh.boundary_edges += kind == EdgeKind::Boundary;
  mesh.inconsistent_edges += kind == EdgeKind::Inconsistent;
  mesh.non_manifold_edges += kind == EdgeKind::NonManifold;
  for (const Side& side : sides) mesh.kind[side.half_edge] = kind;
  if (kind != EdgeKind::Paired) return;
  mesh.opposite[sides[0].half_edge] = sides[1].half_edge;
  mesh.opposite[sides[1].half_edge] = sides[0].half_edge;
}

// Returns the corner of h's face at `vertex`, identified by the half-edge that starts there.
std::uint32_t corner_at(const HalfEdges& mesh, std::uint32_t h, std::uint32_t vertex) {
  return mesh.vertex[h] == vertex ? h : next_in_face(h);
}

// Joins corners across every edge with two faces. A vertex with two sets of corners is not a manifold vertex.
std::size_t count_non_manifold_vertices(const HalfEdges& mesh, std::span<const Side> sides) {
  DisjointSets fans(mesh.vertex.size());
  for (std::size_t i = 0; i + 1 < sides.size(); ++i) {
    const Side &a = sides[i], &b = sides[i + 1];
    if (a.low != b.low || a.high != b.high || mesh.kind[a.half_edge] == EdgeKind::NonManifold) continue;
    fans.join(corner_at(mesh, a.half_edge, a.low), corner_at(mesh, b.half_edge, a.low));
    fans.join(corner_at(mesh, a.half_edge, a.high), corner_at(mesh, b.half_edge, a.high));
  }
  std::vector<std::uint32_t> fan_of(mesh.outgoing.size(), kNoHalfEdge);
  std::vector<bool> counted(mesh.outgoing.size(), false);
  for (std::uint32_t h = 0; h < mesh.vertex.size(); ++h) {
    if (mesh.kind[h] == EdgeKind::Degenerate) continue;
    const std::uint32_t v = mesh.vertex[h], fan = fans.root(h);
    if (fan_of[v] == kNoHalfEdge) fan_of[v] = fan;
    if (fan_of[v] != fan) counted[v] = true;
  }
  return static_cast<std::size_t>(std::count(counted.begin(), counted.end(), true));
}

// Prefers a half-edge without opposite: from it for_each_outgoing() visits the whole fan.
void choose_outgoing(HalfEdges& mesh) {
  for (std::uint32_t h = 0; h < mesh.vertex.size(); ++h) {
    if (mesh.kind[h] == EdgeKind::Degenerate) continue;
    std::uint32_t& chosen = mesh.outgoing[mesh.vertex[h]];
    if (chosen == kNoHalfEdge || (mesh.opposite[h] == kNoHalfEdge && mesh.opposite[chosen] != kNoHalfEdge)) chosen = h;
  }
}

}  // namespace

HalfEdges half_edges(std::size_t vertex_count, std::span<const glm::uvec3> faces) {
  HalfEdges mesh;
  mesh.opposite.assign(3 * faces.size(), kNoHalfEdge);
  mesh.outgoing.assign(vertex_count, kNoHalfEdge);
  for (const glm::uvec3& face : faces) {
    mesh.vertex.insert(mesh.vertex.end(), {face.x, face.y, face.z});
    mesh.kind.insert(mesh.kind.end(), 3, names_vertex_twice(face) ? EdgeKind::Degenerate : EdgeKind::Boundary);
  }
  const std::vector<Side> sides = sorted_sides(mesh);
  for (std::size_t begin = 0, end = 0; begin < sides.size(); begin = end) {
    while (end < sides.size() && sides[end].low == sides[begin].low && sides[end].high == sides[begin].high) ++end;
    enter_edge(mesh, std::span(sides).subspan(begin, end - begin));
  }
  choose_outgoing(mesh);
  mesh.non_manifold_vertices = count_non_manifold_vertices(mesh, sides);
  return mesh;
}

BoundaryLoops boundary_loops(const HalfEdges& mesh) {
  BoundaryLoops loops{{}, {0}};
  std::vector<bool> used(mesh.vertex.size(), false);
  // Goes from the end of a boundary half-edge through the fan around that vertex to the fan's other boundary half-edge.
  const auto following = [&mesh](std::uint32_t h) {
    std::uint32_t candidate = next_in_face(h);
    while (mesh.opposite[candidate] != kNoHalfEdge) candidate = next_in_face(mesh.opposite[candidate]);
    return candidate;
  };
  for (std::uint32_t start = 0; start < mesh.vertex.size(); ++start) {
    std::uint32_t h = start;
    while (mesh.kind[h] == EdgeKind::Boundary && !used[h]) {
      used[h] = true;
      loops.half_edges.push_back(h);
      h = following(h);
    }
    const auto end = static_cast<std::uint32_t>(loops.half_edges.size());
    if (end > loops.first.back()) loops.first.push_back(end);
  }
  return loops;
}

std::vector<std::uint32_t> face_components(std::size_t vertex_count, std::span<const glm::uvec3> faces) {
  DisjointSets sets(vertex_count);
  for (const glm::uvec3& face : faces) {
    sets.join(face.x, face.y);
    sets.join(face.y, face.z);
  }
  std::vector<std::uint32_t> number(vertex_count, kNoHalfEdge), component;
  component.reserve(faces.size());
  std::uint32_t count = 0;
  for (const glm::uvec3& face : faces) {
    std::uint32_t& own = number[sets.root(face.x)];
    if (own == kNoHalfEdge) own = count++;
    component.push_back(own);
  }
  return component;
}

}  // namespace trocar
