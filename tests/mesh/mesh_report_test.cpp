// Tests the health report of shapes with one fault each.
#include "mesh/mesh_report.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "tests/support/shapes.hpp"

namespace trocar {
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

}  // namespace
}  // namespace trocar
