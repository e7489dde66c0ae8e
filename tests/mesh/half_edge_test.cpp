// Tests the adjacency of shapes with known neighbours and of broken shapes; compares it with a map of edges.
#include "mesh/half_edge.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <random>
#include <set>

#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

using Faces = std::vector<glm::uvec3>;

HalfEdges adjacency_of(const TriangleMesh& mesh) { return half_edges(mesh.positions.size(), mesh.faces); }

void expect_opposites_fit(const HalfEdges& mesh) {
  for (std::uint32_t h = 0; h < mesh.vertex.size(); ++h) {
    EXPECT_EQ(next_in_face(previous_in_face(h)), h);
    EXPECT_EQ(face_of(next_in_face(h)), face_of(h));
    EXPECT_EQ(mesh.opposite[h] != kNoHalfEdge, mesh.kind[h] == EdgeKind::Paired);
    if (mesh.opposite[h] == kNoHalfEdge) continue;
    EXPECT_EQ(mesh.opposite[mesh.opposite[h]], h);
    EXPECT_EQ(mesh.vertex[mesh.opposite[h]], mesh.end(h));
    EXPECT_EQ(mesh.end(mesh.opposite[h]), mesh.vertex[h]);
  }
}

TEST(HalfEdge, ClosedShapes) {
  for (const auto& shape : {shapes::icosphere(2), shapes::cube(), shapes::torus(9, 7)}) {
    const HalfEdges mesh = adjacency_of(shape);
    expect_opposites_fit(mesh);
    EXPECT_EQ(mesh.edges, 3 * shape.faces.size() / 2);
    EXPECT_EQ(mesh.boundary_edges + mesh.inconsistent_edges + mesh.non_manifold_edges + mesh.non_manifold_vertices, 0u);
    EXPECT_EQ(boundary_loops(mesh).count(), 0u);
  }
}

TEST(HalfEdge, RingsContainEveryNeighbourOnceInOrder) {
  for (const auto& shape : {shapes::icosphere(2), shapes::grid(4, 3), shapes::torus(9, 7)}) {
    const HalfEdges mesh = adjacency_of(shape);
    std::map<std::uint32_t, std::set<std::uint32_t>> expected;
    for (const glm::uvec3& f : shape.faces) {
      for (int i = 0; i < 3; ++i) expected[f[i]].insert({f[(i + 1) % 3], f[(i + 2) % 3]});
    }
    for (std::uint32_t v = 0; v < shape.positions.size(); ++v) {
      std::vector<std::uint32_t> ring;
      for_each_neighbour(mesh, v, [&](std::uint32_t w) { ring.push_back(w); });
      EXPECT_EQ(std::set(ring.begin(), ring.end()), expected[v]);
      EXPECT_EQ(ring.size(), expected[v].size());
      for (std::size_t i = 0; i + 1 < ring.size(); ++i) EXPECT_TRUE(expected[ring[i]].contains(ring[i + 1]));
    }
  }
}

TEST(HalfEdge, BoundaryOfASheet) {
  const HalfEdges mesh = adjacency_of(shapes::grid(5, 4));
  expect_opposites_fit(mesh);
  EXPECT_EQ(mesh.boundary_edges, 18u);
  const BoundaryLoops loops = boundary_loops(mesh);
  ASSERT_EQ(loops.count(), 1u);
  const auto rim = loops.of_loop(0);
  ASSERT_EQ(rim.size(), 18u);
  for (std::size_t i = 0; i < rim.size(); ++i) EXPECT_EQ(mesh.end(rim[i]), mesh.vertex[rim[(i + 1) % rim.size()]]);
}

TEST(HalfEdge, HolesAreSeparateEvenWhenTheyTouch) {
  TriangleMesh shape = shapes::grid(6, 6);
  // Two cells that share a corner are removed from the middle of the sheet.
  const auto cell = [](int column, int row) { return 2 * (row * 6 + column); };
  for (int f : {cell(3, 3) + 1, cell(3, 3), cell(2, 2) + 1, cell(2, 2)}) shape.faces.erase(shape.faces.begin() + f);
  const HalfEdges mesh = adjacency_of(shape);
  EXPECT_EQ(mesh.non_manifold_vertices, 1u);
  const BoundaryLoops loops = boundary_loops(mesh);
  std::vector<std::size_t> lengths;
  for (std::size_t k = 0; k < loops.count(); ++k) lengths.push_back(loops.of_loop(k).size());
  std::sort(lengths.begin(), lengths.end());
  // At the common corner, a loop leaves by the other boundary edge of the same fan of faces. So one loop of 8 edges
  // runs around both holes; the other is the outline of 24 edges.
  EXPECT_EQ(lengths, (std::vector<std::size_t>{8, 24}));
}

TEST(HalfEdge, BrokenEdgesAreCountedAndHaveNoOpposite) {
  const HalfEdges book = half_edges(5, Faces{{0, 1, 2}, {1, 0, 3}, {0, 1, 4}});
  EXPECT_EQ(book.non_manifold_edges, 1u);
  EXPECT_EQ(book.boundary_edges, 6u);
  EXPECT_EQ(book.non_manifold_vertices, 2u);
  expect_opposites_fit(book);

  const HalfEdges turned = half_edges(4, Faces{{0, 1, 2}, {0, 1, 3}});
  EXPECT_EQ(turned.inconsistent_edges, 1u);
  EXPECT_EQ(turned.boundary_edges, 4u);
  EXPECT_EQ(turned.non_manifold_vertices, 0u);
  expect_opposites_fit(turned);

  const HalfEdges bow_tie = half_edges(5, Faces{{0, 1, 2}, {0, 3, 4}});
  EXPECT_EQ(bow_tie.non_manifold_vertices, 1u);
  EXPECT_EQ(boundary_loops(bow_tie).count(), 2u);
}

TEST(HalfEdge, DegenerateFacesAreExcluded) {
  const HalfEdges mesh = half_edges(4, Faces{{0, 1, 2}, {1, 1, 2}, {3, 3, 3}});
  EXPECT_EQ(mesh.boundary_edges, 3u);
  EXPECT_EQ(mesh.edges, 3u);
  EXPECT_EQ(mesh.outgoing[3], kNoHalfEdge);
  EXPECT_EQ(boundary_loops(mesh).count(), 1u);
  int visited = 0;
  for_each_neighbour(mesh, 3, [&](std::uint32_t) { ++visited; });
  EXPECT_EQ(visited, 0);
  EXPECT_EQ(half_edges(0, {}).edges, 0u);
  EXPECT_EQ(boundary_loops(half_edges(0, {})).count(), 0u);
}

TEST(HalfEdge, RandomFacesAgreeWithAMapOfEdges) {
  const std::uint32_t seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    Faces faces;
    for (int i = 0; i < 30; ++i) faces.emplace_back(random() % 12, random() % 12, random() % 12);
    const HalfEdges mesh = half_edges(12, faces);
    expect_opposites_fit(mesh);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<bool>> edges;
    for (const glm::uvec3& f : faces) {
      if (f.x == f.y || f.y == f.z || f.z == f.x) continue;
      for (int i = 0; i < 3; ++i) edges[std::minmax(f[i], f[(i + 1) % 3])].push_back(f[i] < f[(i + 1) % 3]);
    }
    std::size_t boundary = 0, inconsistent = 0, non_manifold = 0;
    for (const auto& [edge, sides] : edges) {
      boundary += sides.size() == 1;
      inconsistent += sides.size() == 2 && sides[0] == sides[1];
      non_manifold += sides.size() > 2;
    }
    EXPECT_EQ(mesh.edges, edges.size());
    EXPECT_EQ(mesh.boundary_edges, boundary);
    EXPECT_EQ(mesh.inconsistent_edges, inconsistent);
    EXPECT_EQ(mesh.non_manifold_edges, non_manifold);
    EXPECT_EQ(boundary_loops(mesh).half_edges.size(), boundary);
  }
}

TEST(HalfEdge, Components) {
  const TriangleMesh two = shapes::joined(shapes::cube(), shapes::cube(0.1f, {1, 0, 0}));
  const auto component = face_components(two.positions.size(), two.faces);
  for (std::size_t f = 0; f < 24; ++f) EXPECT_EQ(component[f], f / 12);
}

}  // namespace
}  // namespace trocar
