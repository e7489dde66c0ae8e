// Tests surfaces that bound a solid and surfaces that do not; each fault gives one sentence, and seams are ignored.
#include "mesh/mesh_report.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "geometry/error.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

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

}  // namespace
}  // namespace trocar
