// Tests brute force of object against object on known scenes; the pairs must equal those of the triangle-triangle test
// of mesh/.
#include "study/solids/edge_triangle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "mesh/exact_sign.hpp"
#include "mesh/half_edge.hpp"
#include "mesh/mesh_io.hpp"
#include "tests/cpu_collision/solids_support.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test_data.hpp"

namespace trocar::solids {
namespace {

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

Pairs pairs_of(const TriangleMesh& a, const TriangleMesh& b, EdgeTest test) {
  Pairs pairs;
  crossing_pairs(a.view(), b.view(), test, pairs);
  return pairs;
}

// Returns the edge-connected components of a mesh.
std::vector<TriangleMesh> components(const TriangleMesh& mesh) {
  const std::vector<std::uint32_t> part = face_components(mesh.positions.size(), mesh.faces);
  std::vector<TriangleMesh> parts(1 + *std::max_element(part.begin(), part.end()));
  for (std::size_t f = 0; f < mesh.faces.size(); ++f) {
    parts[part[f]].positions = mesh.positions;
    parts[part[f]].faces.push_back(mesh.faces[f]);
  }
  return parts;
}

TEST(CrossingPairs, TwoCubes) {
  const std::pair<const char*, std::size_t> scenes[] = {{"far", 0}, {"close", 0}, {"intersecting", 96}};
  for (const auto& [name, expected] : scenes) {
    const auto file = shared_file(std::string("collision/two-cubes-") + name + ".ply");
    if (!file) GTEST_SKIP() << "no shared test data";
    const std::vector<TriangleMesh> cubes = components(load_mesh(*file));
    ASSERT_EQ(cubes.size(), 2u);
    for (const EdgeTest test : {EdgeTest::Exact, EdgeTest::Area, EdgeTest::Angle}) {
      EXPECT_EQ(pairs_of(cubes[0], cubes[1], test).size(), expected) << name << " test " << static_cast<int>(test);
    }
  }
}

TEST(CrossingPairs, TwoPosesOfOneScene) {
  const auto file = shared_file("collision/Model_1_Scenario_1.txt");
  if (!file) GTEST_SKIP() << "no shared test data";
  const test::PosedScene scene = test::load_posed_scene(*file);
  ASSERT_EQ(scene.objects[0].faces.size(), 5312u);
  ASSERT_EQ(scene.objects[1].faces.size(), 12u);
  ASSERT_EQ(scene.frames.size(), 2u);
  for (const EdgeTest test : {EdgeTest::Exact, EdgeTest::Area, EdgeTest::Angle}) {
    const std::size_t expected[] = {0, 16};
    for (std::size_t frame = 0; frame < 2; ++frame) {
      EXPECT_EQ(pairs_of(scene.posed(0, frame), scene.posed(1, frame), test).size(), expected[frame])
          << "frame " << frame << " test " << static_cast<int>(test);
    }
  }
}

// Random soups, and the same on a coarse grid where touching and coplanar pairs are common. The test of mesh/ omits
// pairs with common corners and faces without area; so does the comparison.
TEST(CrossingPairs, ExactAgreesWithTheMeshRoom) {
  std::size_t crossing = 0, compared = 0;
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    TriangleMesh a = shapes::random_soup(seed, 60, 0.04f), b = shapes::random_soup(seed + 1000, 60, 0.04f);
    if (seed % 2) {
      for (TriangleMesh* mesh : {&a, &b}) {
        for (glm::vec3& p : mesh->positions) p = glm::round(p * 300.f);
      }
    }
    const Pairs pairs = pairs_of(a, b, EdgeTest::Exact);
    for (std::uint32_t f = 0; f < a.faces.size(); ++f) {
      for (std::uint32_t g = 0; g < b.faces.size(); ++g) {
        const auto at = [](const TriangleMesh& m, std::uint32_t face, int c) { return m.positions[m.faces[face][c]]; };
        const glm::vec3 s[3] = {at(a, f, 0), at(a, f, 1), at(a, f, 2)}, t[3] = {at(b, g, 0), at(b, g, 1), at(b, g, 2)};
        if (!has_area(s[0], s[1], s[2]) || !has_area(t[0], t[1], t[2])) continue;
        if (std::any_of(s, s + 3, [&](const glm::vec3& p) { return std::find(t, t + 3, p) != t + 3; })) continue;
        const bool expected = contact_of(s, t) == Contact::Crossing;
        ASSERT_EQ(std::binary_search(pairs.begin(), pairs.end(), std::pair(f, g)), expected)
            << "seed " << seed << " faces " << f << " " << g;
        crossing += expected;
        ++compared;
      }
    }
  }
  EXPECT_GT(crossing, 400u);
  std::cout << crossing << " crossing of " << compared << " pairs\n";
}

}  // namespace
}  // namespace trocar::solids
