// Properties of decimation: face count, closedness, topology, orientation, boundaries, and the measured error.
#include "mesh/decimate.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "geometry/error.hpp"
#include "mesh/mesh_report.hpp"
#include "tests/support/shapes.hpp"

namespace trocar {
namespace {

TEST(Decimate, SphereStaysASphere) {
  const TriangleMesh sphere = shapes::icosphere(4, 0.1f, {0.3f, 0, 0});
  double previous = 0.0;
  for (std::size_t faces : {2000u, 500u, 100u}) {
    const Decimated result = decimate(sphere, {.faces = faces});
    EXPECT_LE(result.mesh.faces.size(), faces);
    EXPECT_GE(result.mesh.faces.size() + 1, faces);
    const MeshReport report = mesh_report(result.mesh.view());
    EXPECT_TRUE(report.sound()) << faces;
    EXPECT_EQ(report.topology.euler_characteristic, 2);
    // A sphere of n equal triangles deviates by about 2.4 r / n.
    EXPECT_LT(result.max_error, 0.1 * 12.0 / static_cast<double>(faces));
    EXPECT_GT(result.max_error, previous);
    EXPECT_GE(result.max_error, result.mean_error);
    previous = result.max_error;
  }
}

TEST(Decimate, KeepsHandles) {
  const Decimated result = decimate(shapes::torus(60, 30), {.faces = 200});
  const MeshReport report = mesh_report(result.mesh.view());
  EXPECT_TRUE(report.sound());
  EXPECT_EQ(report.topology.euler_characteristic, 0);
  EXPECT_LT(result.max_error, 0.01);
}

TEST(Decimate, FlatSheetKeepsItsBoundary) {
  const Decimated result = decimate(shapes::grid(20, 10, 0.2f, 0.1f), {.faces = 2});
  const MeshReport report = mesh_report(result.mesh.view());
  EXPECT_EQ(result.mesh.faces.size(), 2u);
  EXPECT_LT(result.max_error, 1e-6);
  EXPECT_NEAR(report.area, 0.02, 1e-6);
  EXPECT_EQ(report.topology.holes.size(), 1u);
}

TEST(Decimate, RecoversACube) {
  TriangleMesh fine = shapes::icosphere(4);
  for (glm::vec3& p : fine.positions) p *= 0.05f / std::max({std::abs(p.x), std::abs(p.y), std::abs(p.z)});
  const Decimated result = decimate(fine, {.faces = 200});
  EXPECT_TRUE(mesh_report(result.mesh.view()).sound());
  EXPECT_LT(result.mean_error, 2e-4);
}

TEST(Decimate, MeshWithFewEnoughFacesIsUnchanged) {
  const Decimated result = decimate(shapes::cube(), {.faces = 12});
  EXPECT_EQ(result.mesh.faces.size(), 12u);
  EXPECT_EQ(result.max_error, 0.0);
}

TEST(Decimate, StopsAtTheSmallestSurface) {
  const Decimated result =
      decimate(shapes::joined(shapes::icosphere(2), shapes::icosphere(2, 0.1f, {1, 0, 0})), {.faces = 1});
  EXPECT_EQ(result.mesh.faces.size(), 8u);
  EXPECT_TRUE(mesh_report(result.mesh.view()).topology.closed());
}

TEST(Decimate, NonManifoldEdgesStay) {
  // A fin on a sphere makes an edge with three faces: its vertices must not move.
  TriangleMesh mesh = shapes::icosphere(2);
  const glm::uvec3 face = mesh.faces[0];
  const std::size_t tip = mesh.positions.size();
  mesh.positions.push_back(mesh.positions[face.x] * 1.5f);
  mesh.faces.push_back({face.x, face.y, static_cast<std::uint32_t>(tip)});
  const Decimated result = decimate(mesh, {.faces = 40});
  EXPECT_EQ(mesh_report(result.mesh.view()).topology.non_manifold_edges, 1u);
  const auto has = [&](const glm::vec3& p) {
    return std::find(result.mesh.positions.begin(), result.mesh.positions.end(), p) != result.mesh.positions.end();
  };
  EXPECT_TRUE(has(mesh.positions[face.x]) && has(mesh.positions[face.y]));
}

TEST(Decimate, RefusesInvalidInput) {
  EXPECT_THROW(decimate({}, {.faces = 10}), InputError);
  EXPECT_THROW(decimate(shapes::cube(), {.faces = 0}), InputError);
  TriangleMesh degenerate;
  degenerate.positions = {{0, 0, 0}, {1, 0, 0}};
  degenerate.faces = {{0, 0, 1}};
  EXPECT_THROW(decimate(degenerate, {.faces = 10}), InputError);
}

TEST(SurfaceDistance, IsThatOfParallelSheets) {
  const TriangleMesh sheet = shapes::grid(10, 10);
  TriangleMesh lifted = shapes::grid(7, 3);
  for (glm::vec3& p : lifted.positions) p.z += 0.01f;
  const SurfaceDistance distance = surface_distance(sheet.view(), lifted.view());
  EXPECT_NEAR(distance.mean, 0.01, 1e-8);
  EXPECT_NEAR(distance.max, 0.01, 1e-8);
}

}  // namespace
}  // namespace trocar
