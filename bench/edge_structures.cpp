// trocar_edge_structures: compares our half-edge (mesh/half_edge.hpp) with a winged edge and a quad edge built from the
// same meshes. Measures memory, build time, and the time of traversals and flips. Each operation sums the indices that
// it visits. The sums of all three must be equal, and so must the faces after the flips. Exit status 1 if they are not.
// The table is docs/edge-structures.md.
#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <numeric>
#include <random>

#include "bench/quad_edge.hpp"
#include "bench/winged_edge.hpp"
#include "mesh/half_edge.hpp"
#include "sim/support/process.hpp"
#include "study/shapes/superquadric.hpp"

namespace trocar::bench {
namespace {

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
