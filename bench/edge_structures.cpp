// trocar_edge_structures: compares our half-edge (mesh/half_edge.hpp) with a winged edge and a quad edge built from the
// same meshes. Measures memory, build time, and the time of traversals and flips. Each operation sums the indices that
// it visits. The sums of all three must be equal, and so must the faces after the flips. Exit status 1 if they are not.
// The table is docs/edge-structures.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <glm/glm.hpp>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "mesh/half_edge.hpp"
#include "sim/support/process.hpp"
#include "study/shapes/superquadric.hpp"

namespace trocar::bench {
namespace {

// Sorts the sides of all faces so that both sides of an edge are adjacent. Every structure of edge_structures.cpp is
// built from this list, so that its cost is the same for each. Side h belongs to face h / 3 and starts at its corner h
// % 3.

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

struct Side {
  std::uint64_t key;  // the edge's vertices, the lower in the high half
  std::uint32_t half_edge;
};

constexpr std::uint32_t next_side(std::uint32_t h) { return h % 3 == 2 ? h - 2 : h + 1; }
constexpr std::uint32_t previous_side(std::uint32_t h) { return h % 3 == 0 ? h + 2 : h - 1; }
inline std::uint32_t start_of(std::span<const glm::uvec3> faces, std::uint32_t h) { return faces[h / 3][h % 3]; }
inline std::uint32_t end_of(std::span<const glm::uvec3> faces, std::uint32_t h) {
  return faces[h / 3][next_side(h) % 3];
}

inline std::vector<Side> sorted_sides(std::span<const glm::uvec3> faces) {
  std::vector<Side> sides(3 * faces.size());
  for (std::uint32_t h = 0; h < sides.size(); ++h) {
    const auto [low, high] = std::minmax({start_of(faces, h), end_of(faces, h)});
    sides[h] = {std::uint64_t(low) << 32 | high, h};
  }
  std::sort(sides.begin(), sides.end(),
            [](const Side& a, const Side& b) { return a.key != b.key ? a.key < b.key : a.half_edge < b.half_edge; });
  return sides;
}

// Implements the winged edge: one record per edge holds its two ends, two faces and four neighbouring edges. Source:
// Baumgart, "Winged-edge polyhedron representation", Stanford CS-320, 1972; Bergeret 2000, section 3.2.1. It serves the
// comparison in edge_structures.cpp and accepts closed or open, consistently oriented triangle meshes.

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

// Implements the quad edge: every edge is stored four times, as itself and its dual in both directions, and each links
// to the next around its origin. Source: Guibas, Stolfi, "Primitives for the manipulation of general subdivisions and
// the computation of Voronoi diagrams", ACM TOG 1985; Bergeret 2000, section 3.2.2. It serves the comparison in
// edge_structures.cpp and accepts oriented triangle meshes; a hole is a face without a number.

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

constexpr double kShortestMeasurement = 0.2;  // s  of repeats; the fastest counts

double fastest_ms(const std::function<void()>& work) {
  double fastest = 1e30, sum = 0.0;
  do {
    const auto start = std::chrono::steady_clock::now();
    work();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    fastest = std::min(fastest, seconds);
    sum += seconds;
  } while (sum < kShortestMeasurement);
  return 1e3 * fastest;
}

// ---- the same queries for each structure ----

std::uint64_t neighbours(const HalfEdges& mesh, std::size_t vertices) {
  std::uint64_t sum = 0;
  for (std::uint32_t v = 0; v < vertices; ++v) for_each_neighbour(mesh, v, [&](std::uint32_t w) { sum += w ^ v; });
  return sum;
}

std::uint64_t neighbours(const WingedEdges& mesh, std::size_t vertices) {
  std::uint64_t sum = 0;
  for (std::uint32_t v = 0; v < vertices; ++v)
    for_each_edge(mesh, v, [&](std::uint32_t e, int end) { sum += mesh.edges[e].vertex[1 - end] ^ v; });
  return sum;
}

std::uint64_t neighbours(const QuadEdges& mesh, std::size_t vertices) {
  std::uint64_t sum = 0;
  for (std::uint32_t v = 0; v < vertices; ++v)
    for_each_quarter(mesh, v, [&](std::uint32_t q) { sum += mesh.destination(q) ^ v; });
  return sum;
}

std::uint64_t adjacent_faces(const HalfEdges& mesh, std::size_t faces) {
  std::uint64_t sum = 0;
  for (std::uint32_t h = 0; h < 3 * faces; ++h)
    if (mesh.opposite[h] != kNoHalfEdge) sum += face_of(mesh.opposite[h]) ^ face_of(h);
  return sum;
}

std::uint64_t adjacent_faces(const WingedEdges& mesh, std::size_t faces) {
  std::uint64_t sum = 0;
  for (std::uint32_t f = 0; f < faces; ++f)
    for_each_side(mesh, f, [&](std::uint32_t e, int side) {
      const std::uint32_t other = mesh.edges[e].face[1 - side];
      if (other != kNone) sum += other ^ f;
    });
  return sum;
}

std::uint64_t adjacent_faces(const QuadEdges& mesh, std::size_t faces) {
  std::uint64_t sum = 0;
  for (std::uint32_t f = 0; f < faces; ++f)
    for_each_side(mesh, f, [&](std::uint32_t q) {
      if (mesh.right(q) != kNone) sum += mesh.right(q) ^ f;
    });
  return sum;
}

// Counts the boundary loops and their edges; returns loops * 2^32 + edges.
std::uint64_t rims(const HalfEdges& mesh) {
  const BoundaryLoops loops = boundary_loops(mesh);
  return std::uint64_t(loops.count()) << 32 | loops.half_edges.size();
}

// Returns the boundary edge after e, found around the end vertex of e.
std::uint32_t next_rim(const WingedEdges& mesh, std::uint32_t e) {
  std::uint32_t at = e, v = mesh.edges[e].vertex[1];
  for (;;) {
    const int end = mesh.end_at(at, v);
    const std::uint32_t next = mesh.edges[at].with[end];
    if (next == kNone) return at;
    at = next;
  }
}

std::uint64_t rims(const WingedEdges& mesh) {
  std::vector<bool> used(mesh.edges.size(), false);
  std::uint64_t loops = 0, edges = 0;
  for (std::uint32_t start = 0; start < mesh.edges.size(); ++start) {
    if (mesh.edges[start].face[1] != kNone || used[start]) continue;
    ++loops;
    for (std::uint32_t e = start; !used[e]; e = next_rim(mesh, e), ++edges) used[e] = true;
  }
  return loops << 32 | edges;
}

std::uint64_t rims(const QuadEdges& mesh) {
  std::vector<bool> used(mesh.quarters.size() / 4, false);
  std::uint64_t loops = 0, edges = 0;
  for (std::uint32_t start = 2; start < mesh.quarters.size(); start += 4) {
    if (mesh.left(start) != kNone || used[start / 4]) continue;
    ++loops;
    for (std::uint32_t q = start; !used[q / 4]; q = mesh.next_left(q), ++edges) used[q / 4] = true;
  }
  return loops << 32 | edges;
}

bool flip(HalfEdges& mesh, std::uint32_t h) {
  const std::uint32_t o = mesh.opposite[h];
  if (o == kNoHalfEdge) return false;
  const std::uint32_t hn = next_in_face(h), hp = previous_in_face(h), on = next_in_face(o), op = previous_in_face(o);
  const std::uint32_t a = mesh.vertex[h], b = mesh.vertex[o], c = mesh.vertex[hp], d = mesh.vertex[op];
  const std::uint32_t across_bc = mesh.opposite[hn], across_ca = mesh.opposite[hp], across_ad = mesh.opposite[on],
                      across_db = mesh.opposite[op];
  const auto set = [&mesh](std::uint32_t side, std::uint32_t vertex, std::uint32_t across) {
    mesh.vertex[side] = vertex;
    mesh.outgoing[vertex] = side;
    mesh.opposite[side] = across;
    mesh.opposite[across] = side;
  };
  set(hn, c, across_ca);
  set(hp, a, across_ad);
  set(on, d, across_db);
  set(op, b, across_bc);
  mesh.vertex[h] = d;
  mesh.vertex[o] = c;
  return true;
}

// ---- the table ----

std::size_t bytes_of(const HalfEdges& mesh) {
  return 4 * (mesh.vertex.size() + mesh.opposite.size() + mesh.outgoing.size()) + mesh.kind.size();
}

struct Row {
  double bytes, build, around_vertices, around_faces, rims, flips;  // per edge; ms; ms; ms; ms; ns each
  std::uint64_t sum;                                                // of all answers
};

void print(const char* name, std::size_t faces, const Row& row) {
  fmt::print("| {} | {} | {:.1f} | {:.2f} | {:.3f} | {:.3f} | {:.3f} | {:.0f} |\n", faces, name, row.bytes, row.build,
             row.around_vertices, row.around_faces, row.rims, row.flips);
}

// Measures one structure, which `build` makes. `corners(mesh, face)` returns the sum of the face's corner numbers.
// `flips` holds the arguments of flip(), in order.
template <class Build, class Corners>
Row measure(const TriangleMesh& closed, const TriangleMesh& open, std::span<const std::uint32_t> flips, Build build,
            Corners corners) {
  const std::size_t vertices = closed.positions.size(), faces = closed.faces.size();
  auto mesh = build(vertices, closed.faces);
  const auto open_mesh = build(vertices, open.faces);
  Row row{};
  const double edges = 1.5 * static_cast<double>(faces);
  if constexpr (requires { mesh.bytes(); })
    row.bytes = static_cast<double>(mesh.bytes()) / edges;
  else
    row.bytes = static_cast<double>(bytes_of(mesh)) / edges;
  row.build = fastest_ms([&] { build(vertices, closed.faces); });
  std::uint64_t around = 0, adjacent = 0, rim = 0;
  row.around_vertices = fastest_ms([&] { around = neighbours(mesh, vertices); });
  row.around_faces = fastest_ms([&] { adjacent = adjacent_faces(mesh, faces); });
  row.rims = fastest_ms([&] { rim = rims(open_mesh); });
  row.sum = around + 3 * adjacent + 5 * rim + 7 * adjacent_faces(open_mesh, open.faces.size());
  const auto start = std::chrono::steady_clock::now();
  for (const std::uint32_t edge : flips) flip(mesh, edge);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  row.flips = 1e9 * seconds / static_cast<double>(flips.size());
  for (std::uint32_t f = 0; f < faces; ++f) row.sum = row.sum * 31 + corners(mesh, f);
  row.sum += neighbours(mesh, vertices);
  return row;
}

// Edges in random order whose faces share no vertex: each flip leaves a triangulation.
struct FlipList {
  std::vector<std::uint32_t> edges, half_edges;
};

FlipList flips_of(const TriangleMesh& mesh) {
  const std::vector<Side> sides = sorted_sides(mesh.faces);  // two for each edge of a closed mesh
  std::vector<std::uint32_t> order(sides.size() / 2);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  std::vector<bool> taken(mesh.positions.size(), false);
  FlipList list;
  for (const std::uint32_t edge : order) {
    const glm::uvec3 &f = mesh.faces[sides[2 * edge].half_edge / 3], &g = mesh.faces[sides[2 * edge + 1].half_edge / 3];
    const std::uint32_t corners[] = {f.x, f.y, f.z, g.x, g.y, g.z};
    if (std::any_of(std::begin(corners), std::end(corners), [&](std::uint32_t v) { return taken[v]; })) continue;
    for (const std::uint32_t v : corners) taken[v] = true;
    list.edges.push_back(edge);
    list.half_edges.push_back(sides[2 * edge].half_edge);
  }
  return list;
}

bool compare(int faces) {
  const TriangleMesh closed = make_superquadric({.faces = faces});
  TriangleMesh open = closed;
  std::erase_if(open.faces, [&](const glm::uvec3& f) { return (&f - open.faces.data()) % 101 == 0; });
  const FlipList flips = flips_of(closed);
  const Row half = measure(closed, open, flips.half_edges, half_edges, [](const HalfEdges& mesh, std::uint32_t f) {
    return mesh.vertex[3 * f] + mesh.vertex[3 * f + 1] + mesh.vertex[3 * f + 2];
  });
  const Row winged = measure(closed, open, flips.edges, winged_edges, [](const WingedEdges& mesh, std::uint32_t f) {
    std::uint32_t sum = 0;
    for_each_side(mesh, f, [&](std::uint32_t e, int side) { sum += mesh.edges[e].vertex[side]; });
    return sum;
  });
  const Row quad = measure(closed, open, flips.edges, quad_edges, [](const QuadEdges& mesh, std::uint32_t f) {
    std::uint32_t sum = 0;
    for_each_side(mesh, f, [&](std::uint32_t q) { sum += mesh.origin(q); });
    return sum;
  });
  print("half-edge", closed.faces.size(), half);
  print("winged edge", closed.faces.size(), winged);
  print("quad edge", closed.faces.size(), quad);
  std::fflush(stdout);
  return half.sum == winged.sum && half.sum == quad.sum;
}

}  // namespace
}  // namespace trocar::bench

int main() {
  fmt::print("{}, {}\n\n", trocar::machine_description(), trocar::today());
  fmt::print(
      "| faces | structure | bytes per edge | build, ms | around all vertices, ms | across all faces, ms | "
      "boundary loops, ms | edge flip, ns |\n|---|---|---|---|---|---|---|---|\n");
  bool equal = true;
  for (const int faces : {2000, 20000, 200000, 1000000}) equal = trocar::bench::compare(faces) && equal;
  fmt::print("\n{}\n", equal ? "all answers equal" : "ANSWERS DIFFER");
  return equal ? 0 : 1;
}
