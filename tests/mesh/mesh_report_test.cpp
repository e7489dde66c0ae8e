// Tests the health report of shapes with one fault each.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <numbers>
#include <random>
#include <set>

#include "geometry/error.hpp"
#include "mesh/exact_sign.hpp"
#include "mesh/half_edge.hpp"
#include "mesh/mesh_report.hpp"
#include "mesh/tube_shape.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/support/shapes.hpp"

namespace trocar::mesh_report_test {
namespace {

TEST(MeshReport, SoundSphere) {
  const MeshReport report = mesh_report(shapes::icosphere(4, 0.1f, {5, 6, 7}).view());
  EXPECT_TRUE(report.sound());
  EXPECT_EQ(report.faces, 5120u);
  EXPECT_EQ(report.topology.components, 1u);
  EXPECT_EQ(report.topology.euler_characteristic, 2);
  EXPECT_NEAR(report.volume, 4.0 / 3.0 * std::numbers::pi * 1e-3, 2e-5);
  EXPECT_NEAR(report.area, 4.0 * std::numbers::pi * 1e-2, 5e-4);
  EXPECT_NEAR(report.size().x, 0.2, 1e-3);
  EXPECT_EQ(report.suggested, SizeUnit::Millimetre);
}

TEST(MeshReport, HandlesAndPieces) {
  const MeshReport report = mesh_report(shapes::joined(shapes::torus(20, 10), shapes::icosphere(1, 0.01f)).view());
  EXPECT_TRUE(report.sound());
  EXPECT_EQ(report.topology.components, 2u);
  EXPECT_EQ(report.topology.euler_characteristic, 2);
}

TEST(MeshReport, InwardAndFlippedFaces) {
  const MeshReport inward = mesh_report(shapes::turned(shapes::cube()).view());
  EXPECT_FALSE(inward.outward());
  EXPECT_LT(inward.volume, 0);
  EXPECT_TRUE(inward.topology.oriented());
  EXPECT_FALSE(inward.sound());
  TriangleMesh one = shapes::icosphere(2);
  std::swap(one.faces[17].y, one.faces[17].z);
  const MeshReport turned = mesh_report(one.view());
  EXPECT_EQ(turned.topology.inconsistent_edges, 3u);
  EXPECT_FALSE(turned.topology.oriented());
  EXPECT_TRUE(turned.topology.closed() && turned.topology.manifold());
  EXPECT_FALSE(turned.sound());
}

TEST(MeshReport, HolesWithPositionAndLength) {
  TriangleMesh mesh = shapes::icosphere(3);
  const glm::uvec3 lost = mesh.faces[40];
  mesh.faces.erase(mesh.faces.begin() + 40);
  const MeshReport report = mesh_report(mesh.view());
  EXPECT_FALSE(report.topology.closed());
  ASSERT_EQ(report.topology.holes.size(), 1u);
  const Hole& hole = report.topology.holes[0];
  const glm::vec3 middle = (mesh.positions[lost.x] + mesh.positions[lost.y] + mesh.positions[lost.z]) / 3.f;
  EXPECT_EQ(hole.edges, 3u);
  EXPECT_LT(glm::distance(hole.position, glm::dvec3(middle)), 1e-8);
  const double rim = glm::distance(mesh.positions[lost.x], mesh.positions[lost.y]) +
                     glm::distance(mesh.positions[lost.y], mesh.positions[lost.z]) +
                     glm::distance(mesh.positions[lost.z], mesh.positions[lost.x]);
  EXPECT_NEAR(hole.length, rim, 1e-7);
}

TEST(MeshReport, BadFaces) {
  TriangleMesh mesh = shapes::cube();
  mesh.faces.push_back({0, 0, 1});           // uses a vertex twice
  mesh.faces.push_back({3, 2, 0});           // face 0 again, flipped
  mesh.positions.push_back({0, 0, -0.05f});  // on the diagonal of two faces
  mesh.faces.push_back({0, 3, 8});           // collinear corners
  const MeshReport report = mesh_report(mesh.view());
  EXPECT_EQ(report.repeated_corner_faces, 1u);
  EXPECT_EQ(report.zero_area_faces, 1u);
  EXPECT_EQ(report.duplicate_faces, 1u);
  EXPECT_EQ(report.degenerate_faces(), 2u);
  EXPECT_FALSE(report.sound());
}

TEST(MeshReport, SeamsAreIgnored) {
  TriangleMesh mesh;
  for (const glm::uvec3& face : shapes::cube().faces) {
    for (int i = 0; i < 3; ++i) mesh.positions.push_back(shapes::cube().positions[face[i]]);
    const auto n = static_cast<std::uint32_t>(mesh.positions.size());
    mesh.faces.emplace_back(n - 3, n - 2, n - 1);
  }
  const MeshReport report = mesh_report(mesh.view());
  EXPECT_EQ(report.repeated_positions, 28u);
  EXPECT_FALSE(report.topology.closed());
  EXPECT_EQ(report.topology.components, 12u);
  EXPECT_TRUE(report.welded.closed() && report.welded.manifold() && report.welded.oriented());
  EXPECT_EQ(report.welded.used_vertices, 8u);
  EXPECT_EQ(report.crossing_pairs + report.folded_pairs, 0u);
  EXPECT_TRUE(report.sound() && report.fit_for_simulation());
  EXPECT_EQ(report.solid.fault, "");
}

// Tests a ring of faces 15 mm long and 0.02 mm wide: at 23 m from the origin that is ten steps of a float.
TEST(MeshReport, DegenerateFacesDoNotDependOnThePosition) {
  const TriangleMesh thin = shapes::torus(40, 146, 0.1f, 0.0005f);
  for (const float away : {0.f, 1.f, 5.f, 23.f}) {
    TriangleMesh moved = thin;
    for (glm::vec3& p : moved.positions) p += glm::vec3(away, -away, away);
    EXPECT_EQ(mesh_report(moved.view(), {.find_crossings = false}).degenerate_faces(), 0u) << away;
    // A corner exactly in the middle of an edge, with coordinates that are exact in float even far away.
    const glm::vec3 at(away, -away, away);
    TriangleMesh flat;
    flat.positions = {at, at + glm::vec3(4.f / 1024.f, 0, 0), at + glm::vec3(2.f / 1024.f, 0, 0)};
    flat.faces = {{0, 1, 2}};
    EXPECT_EQ(mesh_report(flat.view()).zero_area_faces, 1u) << away;
    flat.positions[2].z += 0.25f / 1024.f;
    EXPECT_EQ(mesh_report(flat.view()).zero_area_faces, 0u) << away;
  }
}

TEST(MeshReport, ImplausibleSizeIsNotFitForSimulation) {
  for (const auto& [radius, fit] :
       {std::pair(4.5e-5f, false), {0.01f, false}, {0.05f, true}, {0.3f, true}, {45.f, false}}) {
    const MeshReport report = mesh_report(shapes::icosphere(2, radius).view());
    EXPECT_TRUE(report.sound()) << radius;
    EXPECT_EQ(report.fit_for_simulation(), fit) << radius;
  }
}

TEST(MeshReport, CrossingFacesAreListed) {
  const TriangleMesh mesh = shapes::joined(shapes::cube(), shapes::cube(0.1f, {0.03f, 0.04f, 0.05f}));
  const MeshReport report = mesh_report(mesh.view(), {.listed_pairs = 3});
  EXPECT_GT(report.crossing_pairs, 6u);
  EXPECT_EQ(report.listed_pairs.size(), 3u);
  EXPECT_FALSE(report.sound());
  EXPECT_EQ(mesh_report(mesh.view(), {.find_crossings = false}).crossing_pairs, 0u);
}

TEST(MeshReport, Units) {
  EXPECT_EQ(suggested_unit(190), SizeUnit::Millimetre);
  EXPECT_EQ(suggested_unit(19), SizeUnit::Centimetre);
  EXPECT_EQ(suggested_unit(0.19), SizeUnit::Metre);
  EXPECT_EQ(suggested_unit(1900), SizeUnit::Unclear);
  EXPECT_EQ(suggested_unit(1.9), SizeUnit::Unclear);
  EXPECT_EQ(suggested_unit(0), SizeUnit::Unclear);
  // This is the same liver, read with a wrong unit.
  EXPECT_EQ(mesh_report(shapes::icosphere(1, 1e-4f).view(), {.metres_per_unit = 1e-3}).suggested, SizeUnit::Metre);
}

TEST(MeshReport, EmptyAndUnusedVertices) {
  EXPECT_EQ(mesh_report({}).faces, 0u);
  TriangleMesh mesh = shapes::cube();
  mesh.positions.push_back({9, 9, 9});
  const MeshReport report = mesh_report(mesh.view());
  EXPECT_EQ(report.topology.used_vertices, 8u);
  EXPECT_NEAR(report.high.x, 0.05, 1e-8);
  EXPECT_TRUE(report.sound());
}

// Tests surfaces that bound a solid and surfaces that do not; each fault gives one sentence, and seams are ignored.

std::string sentence_of(const TriangleMesh& mesh) {
  try {
    closed_volume(mesh.view());
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

void expect_part(const TriangleMesh& mesh, const std::string& part) {
  const std::string sentence = sentence_of(mesh);
  EXPECT_NE(sentence.find(part), std::string::npos) << sentence << "\n  should contain " << part;
}

// Gives every face its own vertices: every edge is then a seam.
TriangleMesh with_seams(const TriangleMesh& mesh) {
  TriangleMesh soup;
  for (const glm::uvec3& face : mesh.faces) {
    const auto n = static_cast<std::uint32_t>(soup.positions.size());
    for (int corner = 0; corner < 3; ++corner) soup.positions.push_back(mesh.positions[face[corner]]);
    soup.faces.push_back({n, n + 1, n + 2});
  }
  return soup;
}

// Adds a wing to an edge of the mesh: a face with one vertex of its own.
TriangleMesh with_wing(TriangleMesh mesh) {
  const auto n = static_cast<std::uint32_t>(mesh.positions.size());
  mesh.positions.push_back(2.f * mesh.positions[mesh.faces[0].x]);
  mesh.faces.push_back({mesh.faces[0].x, mesh.faces[0].y, n});
  return mesh;
}

TEST(SolidCheck, LocatesTheHole) {
  TriangleMesh mesh = shapes::icosphere(2);
  mesh.faces.erase(mesh.faces.begin() + 17);
  expect_part(mesh, "hole at edge");
  expect_part(mesh, "3 open edges in all");
  expect_part(with_seams(mesh), "3 open edges in all");
}

TEST(SolidCheck, RefusesSurfacesThatDoNotBoundASolid) {
  TriangleMesh flipped = shapes::icosphere(2);
  std::swap(flipped.faces[5].x, flipped.faces[5].y);
  expect_part(flipped, "disagree about the outside");
  EXPECT_EQ(check_solid(flipped.view()).inconsistent_edges, 3u);
  expect_part(shapes::turned(shapes::cube()), "inside out");
  TriangleMesh broken = shapes::cube();
  broken.positions[3].y = NAN;
  expect_part(broken, "vertex 3");
  TriangleMesh out_of_range = shapes::cube();
  out_of_range.faces[2].z = 99;
  expect_part(out_of_range, "face 2");
  expect_part({}, "no faces");
}

TEST(SolidCheck, IgnoresSeamsAndDegenerateFaces) {
  const TriangleMesh sphere = shapes::icosphere(2);
  TriangleMesh soup = with_seams(sphere);
  soup.faces.push_back({0, 0, 1});
  EXPECT_NEAR(closed_volume(soup.view()), closed_volume(sphere.view()), 1e-9);
}

// Doubles a face of the sphere: no edge is open, but its three edges have three faces each.
TEST(SolidCheck, EdgeWithSurplusFacesIsNotAHole) {
  TriangleMesh mesh = shapes::icosphere(1);
  mesh = shapes::joined(mesh, mesh);
  mesh.faces.resize(mesh.faces.size() / 2 + 1);  // face 0 twice: three edges of three faces
  const SolidCheck check = check_solid(mesh.view());
  EXPECT_EQ(check.open_edges, 0u);
  EXPECT_EQ(check.non_manifold_edges, 3u);
  EXPECT_EQ(check.unbalanced_edges, 3u);
  EXPECT_TRUE(check.fault.starts_with("three or more faces of the organ meet at edge ")) << check.fault;
  EXPECT_EQ(check.fault.find("hole"), std::string::npos) << check.fault;
  EXPECT_NE(check.fault.find("(3 such edges)"), std::string::npos) << check.fault;
  const MeshReport report = mesh_report(mesh.view());
  EXPECT_TRUE(report.welded.closed());
  EXPECT_FALSE(report.welded.manifold());
  EXPECT_FALSE(report.sound());
}

// The wing's own two edges are open, the shared edge is not.
TEST(SolidCheck, CountsOpenAndNonManifoldEdgesSeparately) {
  const TriangleMesh mesh = with_wing(shapes::icosphere(2));
  for (const TriangleMesh& form : {mesh, with_seams(mesh)}) {
    const SolidCheck check = check_solid(form.view());
    EXPECT_EQ(check.open_edges, 2u);
    EXPECT_EQ(check.non_manifold_edges, 1u);
    EXPECT_EQ(check.unbalanced_edges, 1u);
    EXPECT_EQ(check.inconsistent_edges, 0u);
    expect_part(form, "2 open edges in all");
    EXPECT_EQ(mesh_report(form.view()).welded.boundary_edges, check.open_edges);
    EXPECT_EQ(mesh_report(form.view()).solid.fault, sentence_of(form));
  }
}

// Two cubes that share an edge bound a solid, although not a manifold one.
TEST(SolidCheck, SolidsMayMeetAtAnEdge) {
  const TriangleMesh mesh = shapes::joined(shapes::cube(0.1f), shapes::cube(0.1f, {0.1f, 0.1f, 0.f}));
  const SolidCheck check = check_solid(mesh.view());
  EXPECT_EQ(check.fault, "");
  EXPECT_EQ(check.non_manifold_edges, 1u);
  EXPECT_EQ(check.unbalanced_edges, 0u);
  EXPECT_NEAR(closed_volume(mesh.view()), 0.002, 1e-9);
  EXPECT_FALSE(mesh_report(mesh.view()).sound());
}

// Tests the adjacency of shapes with known neighbours and of broken shapes; compares it with a map of edges.

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

// Tests the properties of the test shapes on which other tests depend.

TEST(Shapes, ClosedOnesAreSound) {
  for (const auto& mesh :
       {shapes::icosphere(0), shapes::icosphere(3), shapes::cube(), shapes::torus(20, 10), shapes::sphere_of(500),
        shapes::joined(shapes::cube(), shapes::icosphere(1, 0.1f, {1, 0, 0}))}) {
    EXPECT_TRUE(mesh_report(mesh.view()).sound());
  }
}

TEST(Shapes, FaceCounts) {
  EXPECT_EQ(shapes::icosphere(2).faces.size(), 320u);
  EXPECT_EQ(shapes::cube().faces.size(), 12u);
  EXPECT_EQ(shapes::grid(7, 3).faces.size(), 42u);
  EXPECT_EQ(shapes::torus(20, 10).faces.size(), 400u);
  EXPECT_EQ(shapes::random_soup(1, 33).faces.size(), 33u);
  for (std::size_t faces : {1u, 100u, 2000u, 12345u}) {
    EXPECT_GE(shapes::sphere_of(faces).faces.size(), faces);
    EXPECT_LE(shapes::sphere_of(faces).faces.size(), faces + faces / 10 + 20);
  }
}

TEST(Shapes, Volumes) {
  EXPECT_NEAR(mesh_report(shapes::cube(0.2f, {1, 2, 3}).view()).volume, 0.008, 1e-8);
  EXPECT_NEAR(mesh_report(shapes::icosphere(5).view()).volume, 4.0 / 3.0 * std::numbers::pi * 1e-3, 1e-5);
  EXPECT_NEAR(mesh_report(shapes::torus(200, 100).view()).volume, 2 * std::numbers::pi * std::numbers::pi * 0.1 * 9e-4,
              2e-6);
  EXPECT_LT(mesh_report(shapes::turned(shapes::cube()).view()).volume, 0.0);
}

TEST(Shapes, SoupIsTheSameEverywhere) {
  const TriangleMesh soup = shapes::random_soup(42, 10);
  EXPECT_EQ(soup.positions, shapes::random_soup(42, 10).positions);
  EXPECT_NE(soup.positions, shapes::random_soup(43, 10).positions);
}

// Tests tubes: closed, oriented, at their radius from the centre line, through the given points, without twist, and the
// faults of shapes that have no surface.

using glm::dvec3;
using test::Dice;

constexpr std::uint64_t kSeed = 20261123;

double distance_to_line(const std::vector<dvec3>& line, const dvec3& p) {
  double least = 1.0;
  for (std::size_t k = 1; k < line.size(); ++k) {
    const dvec3 d = line[k] - line[k - 1];
    const double t = glm::clamp(glm::dot(p - line[k - 1], d) / glm::dot(d, d), 0.0, 1.0);
    least = std::min(least, glm::distance(p, line[k - 1] + t * d));
  }
  return least;
}

TubeShape random_tube(Dice& dice) {
  TubeShape tube{{}, dice.log_uniform(5e-4, 5e-3)};
  dvec3 at = dice.in_cube(0.1), along = dice.direction();
  const int points = 2 + dice.pick(5);
  for (int k = 0; k < points; ++k) {
    tube.path.push_back(at);
    along = glm::normalize(along + 0.5 * dice.direction());
    at += dice.uniform(4.0, 12.0) * tube.radius * along;
  }
  return tube;
}

TEST(TubeShape, IsAClosedSolidWithoutCrossings) {
  Dice dice(kSeed);
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  int made = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const TubeShape tube = random_tube(dice);
    if (!tube_fault(tube).empty()) continue;
    ++made;
    const TriangleMesh mesh = tube_surface(tube);
    const SolidCheck check = check_solid(mesh.view());
    ASSERT_EQ(check.fault, "") << "trial " << trial;
    EXPECT_GT(check.volume, 0.0);
    EXPECT_TRUE(self_crossings(mesh.view()).pairs.empty()) << "trial " << trial;
    const std::vector<dvec3> line = centre_line(tube);
    for (const glm::vec3& p : mesh.positions)
      ASSERT_NEAR(distance_to_line(line, dvec3(p)), tube.radius, 0.1 * tube.radius) << "trial " << trial;
    for (const dvec3& point : tube.path) EXPECT_LT(distance_to_line(line, point), 0.1 * tube.radius);
  }
  EXPECT_GT(made, 120);
}

// A straight tube is a cylinder with two half balls, with the area of a decagon instead of that of a circle.
TEST(TubeShape, HasTheVolumeOfACylinderWithHalfBalls) {
  const double r = 2e-3, length = 0.03;
  const TubeShape tube{{{0, 0, 0}, {0, 0, 0.01}, {0, 0, length}}, r};
  const double decagon = 5.0 * std::sin(std::numbers::pi / 5.0);  // of the unit circle
  const double balls = 4.0 / 3.0 * std::numbers::pi * r * r * r;
  const double volume = check_solid(tube_surface(tube).view()).volume;
  EXPECT_NEAR(volume - decagon * r * r * length, balls, 0.2 * balls);
}

// The points of a ring face those of the next one: in a bend in space too, sides do not turn around the line.
TEST(TubeShape, DoesNotTwist) {
  TubeShape helix{{}, 1e-3};
  for (int k = 0; k < 12; ++k) helix.path.emplace_back(0.02 * std::cos(0.5 * k), 0.02 * std::sin(0.5 * k), 0.004 * k);
  ASSERT_EQ(tube_fault(helix), "");
  const TriangleMesh mesh = tube_surface(helix);
  const std::vector<dvec3> line = centre_line(helix);
  const auto along = [&](std::size_t k) {
    return glm::normalize(line[std::min(k + 1, line.size() - 1)] - line[k > 0 ? k - 1 : 0]);
  };
  const auto beside = [&](std::size_t ring, std::size_t side) {
    return glm::normalize(dvec3(mesh.positions[1 + 20 + 10 * ring + side]) - line[ring]);
  };
  for (std::size_t ring = 1; ring < line.size(); ++ring)
    for (std::size_t side = 0; side < 10; ++side)
      EXPECT_LE(glm::distance(beside(ring, side), beside(ring - 1, side)),
                1.02 * glm::distance(along(ring), along(ring - 1)) + 1e-4)
          << "ring " << ring;
}

TEST(TubeShape, SaysWhyThereIsNone) {
  const auto fault = [](std::vector<dvec3> path, double radius) { return tube_fault({std::move(path), radius}); };
  EXPECT_EQ(fault({{0, 0, 0}}, 1e-3), "it needs at least two points");
  EXPECT_EQ(fault({{0, 0, 0}, {0.01, 0, 0}, {0.01, 0, 0}}, 1e-3), "two points in a row are the same, [10, 0, 0]");
  EXPECT_NE(fault({{0, 0, 0}, {0.01, 0, 0}, {0, 0.001, 0}}, 2e-3).find("bends tighter"), std::string::npos);
  std::vector<dvec3> loop;
  for (int k = 0; k <= 16; ++k)
    loop.emplace_back(0.02 * std::cos(std::numbers::pi * k / 8), 0.02 * std::sin(std::numbers::pi * k / 8), 1e-4 * k);
  EXPECT_NE(fault(loop, 2e-3).find("overlaps itself"), std::string::npos);
  EXPECT_NE(fault({{0, 0, 0}, {10, 0, 0}}, 1e-3).find("longer than"), std::string::npos);
  std::vector<dvec3> many(101);
  for (std::size_t k = 0; k < many.size(); ++k) many[k].x = 1e-3 * double(k);
  EXPECT_EQ(fault(many, 1e-3), "it has more than 100 points");
  EXPECT_EQ(fault({{0, 0, 0}, {0.03, 0, 0}}, 2e-3), "");
}

}  // namespace
}  // namespace trocar::mesh_report_test
