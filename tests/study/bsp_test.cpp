// Tests the BSP tree: its size on curved surfaces, segments and points against brute force, points on planes and
// segments in planes, meshes that are not surfaces, broken meshes against the reference, allocations.
// trees_test.cpp covers touch queries of all other meshes.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "cpu_collision/reference.hpp"
#include "cpu_collision/solids/point_in_solid.hpp"
#include "geometry/error.hpp"
#include "geometry/machine.hpp"
#include "geometry/refine.hpp"
#include "mesh/mesh_io.hpp"
#include "study/bsp/bsp.hpp"
#include "study/shapes/superquadric.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/broken_meshes.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test_data.hpp"

namespace trocar::bsp_test {
namespace {

using solids::PointLocation;
using test::Dice;

constexpr unsigned kSeed = 31;

struct Named {
  const char* name;
  TriangleMesh mesh;
};

std::vector<Named> solid_meshes() {
  const auto superquadric = [](SuperquadricKind kind, double e1, double e2) {
    return make_superquadric({.kind = kind, .profile_exponent = e1, .outline_exponent = e2, .faces = 2000});
  };
  return {{"ball", shapes::icosphere(3)},
          {"ring", shapes::torus(60, 30)},
          {"cube", shapes::cube()},
          {"two cubes", shapes::joined(shapes::cube(), shapes::cube(0.05f, {0.2f, 0.f, 0.f}))},
          {"box", superquadric(SuperquadricKind::Ellipsoid, 0.1, 0.1)},
          {"star", superquadric(SuperquadricKind::Ellipsoid, 3.0, 3.0)},
          {"frame", superquadric(SuperquadricKind::Toroid, 0.2, 0.5)}};
}

std::vector<Named> all_meshes() {
  std::vector<Named> meshes = solid_meshes();
  meshes.push_back({"sheet", shapes::grid(20, 15)});
  meshes.push_back({"soup", shapes::random_soup(kSeed, 1000, 0.1f, 0.05f)});
  TriangleMesh line;
  for (std::uint32_t k = 0; k < 30; ++k) line.positions.emplace_back(0.002f * float(k), 0.f, 0.f);
  for (std::uint32_t k = 0; k + 2 < 30; ++k) line.faces.emplace_back(k, k + 1, k + 2);
  meshes.push_back({"line", line});
  meshes.push_back({"point", {{{0.01f, 0.02f, 0.03f}}, std::vector<glm::uvec3>(20, glm::uvec3(0))}});
  TriangleMesh same{{{0, 0, 0}, {0.1f, 0, 0}, {0, 0.1f, 0}}, std::vector<glm::uvec3>(50, glm::uvec3(0, 1, 2))};
  meshes.push_back({"same face", same});
  return meshes;
}

// Returns an end point of a segment: anywhere, or on a vertex, an edge or a face of the mesh.
glm::dvec3 random_point(Dice& dice, const TriangleMesh& mesh) {
  const Triangle t = triangle_of(mesh.positions, mesh.faces[dice.pick(int(mesh.faces.size()))]);
  switch (dice.pick(5)) {
    case 0:
      return t.a;
    case 1:
      return 0.5 * (t.a + t.b);
    case 2:
      return 0.25 * t.a + 0.25 * t.b + 0.5 * t.c;
    default:
      return dice.in_cube(0.15);
  }
}

TEST(BspSolid, SegmentsMatchBruteForce) {
  Dice dice(kSeed);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::size_t met = 0;
  for (const auto& [name, mesh] : all_meshes()) {
    SCOPED_TRACE(name);
    BspSolid solid(mesh.view());
    for (int round = 0; round < 300; ++round) {
      const glm::dvec3 from = random_point(dice, mesh);
      glm::dvec3 to = random_point(dice, mesh);  // sometimes of the same face: a segment in its plane
      if (dice.pick(20) == 0) to = from;
      if (dice.pick(4) == 0) to[dice.pick(3)] = from[dice.pick(3)];
      std::vector<SegmentMeeting> expected;
      for (std::uint32_t f = 0; f < mesh.faces.size(); ++f) {
        const Triangle face = triangle_of(mesh.positions, mesh.faces[f]);
        if (const auto t = first_meeting(from, to, face, solid.tree().tolerance)) expected.push_back({FaceId(f), *t});
      }
      std::sort(expected.begin(), expected.end(), [](const SegmentMeeting& a, const SegmentMeeting& b) {
        return a.t != b.t ? a.t < b.t : a.face < b.face;
      });
      const auto crossed = solid.crossed(from, to);
      ASSERT_EQ(crossed.size(), expected.size()) << "round " << round;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(crossed[i].face, expected[i].face);
        ASSERT_EQ(crossed[i].t, expected[i].t);
      }
      const auto first = solid.first_crossed(from, to);
      ASSERT_EQ(first.has_value(), !expected.empty());
      if (first) {
        ASSERT_EQ(first->face, expected[0].face);
      }
      met += expected.size();
    }
  }
  std::printf("%zu meetings\n", met);
  EXPECT_GT(met, 5000u);
}

// Compares the first meeting with one face with the distance of segment and triangle, which shares no code with it.
TEST(BspSolid, FirstMeetingMatchesDistance) {
  Dice dice(kSeed + 1);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed + 1);
  constexpr double kTolerance = 1e-10;
  int met = 0;
  for (int round = 0; round < 20000; ++round) {
    Triangle face{dice.in_cube(0.1), dice.in_cube(0.1), dice.in_cube(0.1)};
    glm::dvec3 from = dice.in_cube(0.1), to = dice.in_cube(0.1);
    if (dice.pick(3) == 0) face.a.z = face.b.z = face.c.z = from.z = to.z = 0.01;
    if (dice.pick(10) == 0) to = from;
    const auto t = first_meeting(from, to, face, kTolerance);
    const double distance = closest_segment_triangle(from, to, face).distance;
    if (t) {
      ++met;
      ASSERT_LT(distance, 2.0 * kTolerance);
      const glm::dvec3 at = from + *t * (to - from);
      ASSERT_LT(closest_segment_triangle(at, at, face).distance, 1e-7) << "round " << round;
      const glm::dvec3 before = from + 0.999 * *t * (to - from);
      if (*t > 0.01) {
        ASSERT_GT(closest_segment_triangle(from, before, face).distance, 0.0);
      }
    } else {
      ASSERT_GT(distance, 0.0) << "round " << round;
    }
  }
  EXPECT_GT(met, 2000);
}

TEST(BspSolid, PointsMatchWindingNumber) {
  Dice dice(kSeed + 2);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed + 2);
  for (const auto& [name, mesh] : solid_meshes()) {
    SCOPED_TRACE(name);
    const BspSolid solid(mesh.view());
    int inside = 0;
    for (int round = 0; round < 1000; ++round) {
      const glm::dvec3 near = random_point(dice, mesh);
      const glm::dvec3 point = dice.pick(2) ? near + dice.in_cube(1e-3) : dice.in_cube(0.15);
      const bool expected = solids::winding_number(mesh.view(), point) > 0.5;
      ASSERT_EQ(solid.locate(point), expected ? PointLocation::Inside : PointLocation::Outside) << "round " << round;
      inside += expected;
    }
    EXPECT_GT(inside, 50);
    for (int round = 0; round < 300; ++round) {  // on the surface, and in the planes of faces but off them
      const Triangle t = triangle_of(mesh.positions, mesh.faces[dice.pick(int(mesh.faces.size()))]);
      const double u = dice.uniform(0.0, 1.0), v = dice.uniform(0.0, 1.0 - u);
      ASSERT_EQ(solid.locate(t.a + u * (t.b - t.a) + v * (t.c - t.a)), PointLocation::OnSurface);
      const glm::dvec3 beside = t.a + dice.uniform(-5.0, 5.0) * (t.b - t.a) + dice.uniform(-5.0, 5.0) * (t.c - t.a);
      const PointLocation found = solid.locate(beside);
      if (found == PointLocation::OnSurface) continue;
      ASSERT_EQ(found == PointLocation::Inside, solids::winding_number(mesh.view(), beside) > 0.5);
    }
  }
}

// Face planes alone degenerate to a list on a convex surface. With median planes above them the tree is shallow and its
// size proportional to the faces.
TEST(BspTree, SizeOnCurvedSurfaces) {
  BspScratch scratch;
  BspTree tree;
  const TriangleMesh small = shapes::icosphere(3);
  const BspParams faces_alone{.cell_faces = std::numeric_limits<std::uint32_t>::max()};
  build_bsp_tree(small.view(), faces_alone, scratch, tree);
  EXPECT_EQ(tree.depth, small.faces.size());
  EXPECT_EQ(tree.nodes.size(), small.faces.size());
  std::printf("face planes alone, %zu faces: depth %zu\n", small.faces.size(), tree.depth);
  for (const int subdivisions : {3, 4, 5, 6}) {
    const TriangleMesh mesh = shapes::icosphere(subdivisions);
    const auto start = Clock::now();
    build_bsp_tree(mesh.view(), {}, scratch, tree);
    const double ms = milliseconds_since(start);
    std::printf("%zu faces: %zu nodes, %zu cuts, depth %zu, %.1f ms\n", mesh.faces.size(), tree.nodes.size(), tree.cuts,
                tree.depth, ms);
    EXPECT_LT(tree.nodes.size(), 5 * mesh.faces.size());
    EXPECT_LT(tree.depth, 60u);
    EXPECT_EQ(tree.unsplit_leaves, 0u);
  }
}

TEST(BspTree, EveryFaceIsKept) {
  for (const auto& [name, mesh] : all_meshes()) {
    BspScratch scratch;
    BspTree tree;
    build_bsp_tree(mesh.view(), {}, scratch, tree);
    std::vector<bool> kept(mesh.faces.size(), false);
    for (const std::uint32_t face : tree.faces) kept[face] = true;
    EXPECT_EQ(std::count(kept.begin(), kept.end(), false), 0) << name;
  }
}

TEST(BspQuery, BrokenMeshesAgreeWithTheReference) {
  Dice dice(kSeed + 3);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed + 3);
  std::uint64_t in_both = 0;
  const auto meshes = test::broken_meshes_that_load();
  if (meshes.empty()) GTEST_SKIP() << "no shared test data";
  for (const auto& [name, mesh] : meshes) {
    SCOPED_TRACE(name);
    glm::dvec3 low(1e30), high(-1e30);
    for (const glm::vec3& p : mesh.positions) low = glm::min(low, glm::dvec3(p)), high = glm::max(high, glm::dvec3(p));
    const double size = glm::distance(low, high);
    const auto query = make_bsp_query();
    query->rebuild(mesh.view());
    for (int round = 0; round < 4; ++round) {
      const glm::dvec3 tip(mesh.positions[dice.pick(int(mesh.positions.size()))]);
      const ToolStep step{tip + size * dice.direction(), tip, tip + 0.1 * dice.in_cube(size), 0.02 * size};
      const ToolVolume tool = swept_volume(step, Cover::Capsule);
      for (const TouchSet set : {TouchSet::Volume, TouchSet::Exact}) {
        const TouchList list = query->touched({&tool, 1}, set);
        const Agreement agreement = compare_with_reference(reference_touched(mesh.view(), tool, set), list.of_tool(0));
        ASSERT_EQ(agreement.disagreements, 0u) << name << " round " << round;
        in_both += agreement.in_both;
      }
    }
  }
  EXPECT_GT(in_both, 100u);
}

TEST(BspQuery, CountersMemoryAndEmptyMeshes) {
  const auto query = make_bsp_query();
  EXPECT_EQ(query->name(), "bsp");
  const ToolVolume tool = static_volume({{0, 0, 0.3}, {0, 0, 0.08}, 0.005});
  query->rebuild({});
  query->update({});
  EXPECT_TRUE(query->touched({&tool, 1}, TouchSet::Volume).touches.empty());
  const TriangleMesh mesh = shapes::icosphere(5);
  query->rebuild(mesh.view());
  EXPECT_FALSE(query->touched({&tool, 1}, TouchSet::Volume).touches.empty());
  const CostCounters counters = query->counters();
  EXPECT_GT(counters.volume_tests, 1u);
  EXPECT_LT(counters.volume_tests, counters.updated_nodes / 10);
  EXPECT_LT(counters.face_tests, mesh.faces.size() / 10);
  EXPECT_GT(query->memory_bytes(), mesh.faces.size() * sizeof(BspNode));
}

TEST(BspQuery, AllocatesNothingAfterWarmUp) {
  const TriangleMesh rest = shapes::icosphere(4);
  const auto query = make_bsp_query();
  query->rebuild(rest.view());
  std::size_t touches = 0;
  const auto frame = [&](int k) {
    TriangleMesh mesh = rest;
    for (glm::vec3& p : mesh.positions) p += 0.004f * glm::sin(40.f * glm::vec3(p.y, p.z, p.x) + 0.7f * float(k));
    const ToolVolume tool = static_volume({{0, 0, 0.3}, {0, 0, 0.01 * k - 0.1}, 0.01});
    const std::uint64_t before = allocations_so_far();
    query->update(mesh.positions);
    touches += query->touched({&tool, 1}, TouchSet::Volume).touches.size();
    touches += query->touched({&tool, 1}, TouchSet::Exact).touches.size();
    return allocations_so_far() - before;
  };
  for (int k = 0; k < 20; ++k) frame(k);
  for (int k = 0; k < 20; ++k) EXPECT_EQ(frame(k), 0u);
  EXPECT_GT(touches, 1000u);
}

}  // namespace
}  // namespace trocar::bsp_test
