// Compares the pairs of faces of two trees, of a tree with itself, and of a surface in motion with a test of every
// pair. Also tests scenes with known answers.
#include <gtest/gtest.h>

#include <algorithm>

#include "cpu_collision/trees/motion_crossing.hpp"
#include "cpu_collision/trees/surface_tree.hpp"
#include "mesh/exact_sign.hpp"
#include "mesh/half_edge.hpp"
#include "mesh/mesh_io.hpp"
#include "study/solids/edge_triangle.hpp"
#include "tests/cpu_collision/solids_support.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/study/all_trees.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

constexpr unsigned kSeed = 77;

std::vector<std::string> all_trees() {
  std::vector<std::string> names = all_tree_names();
  for (const char* name : {"aabb:median", "aabb:middle", "sphere:mean", "kdop18:middle"}) names.push_back(name);
  return names;
}

std::unique_ptr<SurfaceTree> tree_over(const std::string& name, const TriangleMesh& mesh) {
  auto tree = make_surface_tree(*tree_plan(name, kAllTreeVolumes));
  tree->rebuild(mesh.view());
  return tree;
}

std::vector<FacePair> crossing(const std::string& name, const TriangleMesh& a, const TriangleMesh& b) {
  const auto first = tree_over(name, a), second = tree_over(name, b);
  const auto pairs = first->crossing(*second).pairs;
  return {pairs.begin(), pairs.end()};
}

TEST(TreePairs, CrossingAgreesWithEveryPair) {
  std::size_t found = 0;
  for (unsigned seed = kSeed; seed < kSeed + 6; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const TriangleMesh a = shapes::random_soup(seed, 300), b = shapes::random_soup(seed + 100, 200);
    std::vector<FacePair> wanted;
    solids::crossing_pairs(a.view(), b.view(), solids::EdgeTest::Exact, wanted);
    for (const std::string& name : all_trees()) ASSERT_EQ(crossing(name, a, b), wanted) << name;
    found += wanted.size();
  }
  const TriangleMesh ball = shapes::icosphere(3, 0.1f), ring = shapes::torus(40, 20, 0.1f, 0.03f);
  std::vector<FacePair> wanted;
  solids::crossing_pairs(ball.view(), ring.view(), solids::EdgeTest::Exact, wanted);
  for (const std::string& name : all_trees()) ASSERT_EQ(crossing(name, ball, ring), wanted) << name;
  EXPECT_GT(found + wanted.size(), 300u);
}

TEST(TreePairs, CrossingAcceptsTreesOfEveryKind) {
  const TriangleMesh a = shapes::random_soup(kSeed, 150, 0.1f, 0.06f),
                     b = shapes::random_soup(kSeed + 100, 120, 0.1f, 0.06f);
  std::vector<FacePair> wanted;
  solids::crossing_pairs(a.view(), b.view(), solids::EdgeTest::Exact, wanted);
  ASSERT_GT(wanted.size(), 20u);
  for (const std::string& ours : all_trees()) {
    const auto first = tree_over(ours, a);
    for (const std::string& theirs : all_trees()) {
      const auto second = tree_over(theirs, b);
      for (int turn = 0; turn < 2; ++turn) {
        const auto pairs = first->crossing(*second).pairs;
        ASSERT_TRUE(std::equal(pairs.begin(), pairs.end(), wanted.begin(), wanted.end()))
            << ours << " and " << theirs << ", seed " << kSeed;
      }
    }
  }
}

// Tests that crossing() uses the other tree's new positions and faces, for every kind of tree.
TEST(TreePairs, CrossingFollowsATreeOfAnotherKind) {
  const TriangleMesh ball = shapes::icosphere(2, 0.1f), ring = shapes::torus(20, 10, 0.1f, 0.03f);
  TriangleMesh away = ring;
  for (glm::vec3& p : away.positions) p.x += 1.f;
  const auto first = tree_over("obb-refit", ball), second = tree_over("kdop18-refit", ring);
  EXPECT_GT(first->crossing(*second).pairs.size(), 20u);
  second->update(away.positions);
  EXPECT_TRUE(first->crossing(*second).pairs.empty());
  second->rebuild(ball.view());
  EXPECT_GE(first->crossing(*second).pairs.size(), ball.faces.size());
}

TEST(TreePairs, SelfCrossingAgreesWithTheMeshRoom) {
  const TriangleMesh meshes[] = {shapes::random_soup(kSeed, 500), shapes::icosphere(3),
                                 shapes::joined(shapes::icosphere(2, 0.1f), shapes::torus(30, 15)), shapes::cube()};
  for (const TriangleMesh& mesh : meshes) {
    const SelfCrossings wanted = self_crossings(mesh.view(), 100000);
    for (const std::string& name : all_trees()) {
      const auto tree = tree_over(name, mesh);
      const auto pairs = tree->self_crossing().pairs;
      ASSERT_TRUE(std::equal(pairs.begin(), pairs.end(), wanted.pairs.begin(), wanted.pairs.end()))
          << name << ", " << mesh.faces.size() << " faces, seed " << kSeed;
    }
  }
}

TEST(TreePairs, KnownScenes) {
  const auto far = shared_file("collision/two-cubes-far.ply"), close = shared_file("collision/two-cubes-close.ply"),
             intersecting = shared_file("collision/two-cubes-intersecting.ply"),
             posed = shared_file("collision/Model_1_Scenario_1.txt");
  if (!far || !close || !intersecting || !posed) GTEST_SKIP() << "no shared test data";
  const test::PosedScene scene = test::load_posed_scene(*posed);
  for (const std::string& name : all_trees()) {
    SCOPED_TRACE(name);
    EXPECT_EQ(tree_over(name, load_mesh(*far))->self_crossing().pairs.size(), 0u);
    EXPECT_EQ(tree_over(name, load_mesh(*close))->self_crossing().pairs.size(), 0u);
    EXPECT_EQ(tree_over(name, load_mesh(*intersecting))->self_crossing().pairs.size(), 96u);
    EXPECT_EQ(crossing(name, scene.posed(0, 0), scene.posed(1, 0)).size(), 0u);
    EXPECT_EQ(crossing(name, scene.posed(0, 1), scene.posed(1, 1)).size(), 16u);
  }
}

// Two sheets that pass through each other between two frames: neither frame shows a crossing.
TEST(TreePairs, SheetsThatPassThroughEachOther) {
  const TriangleMesh sheet = shapes::grid(6, 6);
  TriangleMesh before = sheet, after = sheet;
  const std::uint32_t count = static_cast<std::uint32_t>(sheet.positions.size());
  for (const glm::vec3& p : sheet.positions) before.positions.push_back(p + glm::vec3(0.003f, 0.002f, 0.01f));
  for (const glm::vec3& p : sheet.positions) after.positions.push_back(p + glm::vec3(0.003f, 0.002f, -0.01f));
  for (const glm::uvec3& f : sheet.faces) before.faces.push_back(f + count);
  after.faces = before.faces;
  std::vector<FacePair> first;
  for (const std::string& name : all_trees()) {
    const auto tree = tree_over(name, before);
    EXPECT_TRUE(tree->self_crossing().pairs.empty()) << name;
    const auto pairs = tree->self_crossing_on_the_way(after.positions).pairs;
    EXPECT_GT(pairs.size(), sheet.faces.size()) << name;
    if (first.empty()) first.assign(pairs.begin(), pairs.end());
    EXPECT_TRUE(std::equal(pairs.begin(), pairs.end(), first.begin(), first.end())) << name;
    // At rest, or moving together, they do not meet.
    tree->update(before.positions);
    EXPECT_TRUE(tree->self_crossing_on_the_way(before.positions).pairs.empty()) << name;
    tree->update(before.positions);
    std::vector<glm::vec3> shifted = before.positions;
    for (glm::vec3& p : shifted) p += glm::vec3(0.05f, 0.f, 0.2f);
    EXPECT_TRUE(tree->self_crossing_on_the_way(shifted).pairs.empty()) << name;
  }
}

TEST(TreePairs, MotionAgreesWithEveryPair) {
  const TriangleMesh mesh = shapes::random_soup(kSeed, 200, 0.1f, 0.02f);
  test::Dice dice(kSeed);
  std::vector<glm::vec3> after = mesh.positions;
  for (std::size_t v = 0; v < after.size(); v += 3) {
    const glm::vec3 direction(dice.in_cube(0.02));
    for (std::size_t k = v; k < v + 3; ++k) after[k] += direction + glm::vec3(dice.in_cube(0.002));
  }
  float extent = 0.f;
  for (const glm::vec3& p : mesh.positions) extent = std::max({extent, std::abs(p.x), std::abs(p.y), std::abs(p.z)});
  for (const glm::vec3& p : after) extent = std::max({extent, std::abs(p.x), std::abs(p.y), std::abs(p.z)});
  std::vector<FacePair> wanted;
  const auto motion = [&](std::uint32_t f) {
    return MovingTriangle{triangle_of(mesh.positions, mesh.faces[f]), triangle_of(after, mesh.faces[f])};
  };
  for (std::uint32_t f = 0; f < mesh.faces.size(); ++f)
    for (std::uint32_t g = f + 1; g < mesh.faces.size(); ++g)
      if (triangles_meet(motion(f), motion(g), 1e-7 * double(extent))) wanted.emplace_back(f, g);
  EXPECT_GT(wanted.size(), 20u);
  for (const std::string& name : all_trees()) {
    const auto tree = tree_over(name, mesh);
    const auto pairs = tree->self_crossing_on_the_way(after).pairs;
    EXPECT_TRUE(std::equal(pairs.begin(), pairs.end(), wanted.begin(), wanted.end())) << name << ", seed " << kSeed;
  }
}

// A cloth falls onto another within one step: 46 pairs share a point at its end, none at its start.
TEST(TreePairs, ThickClothIsCaughtInMotion) {
  const auto before = shared_file("collision/thick-cloth_t0.ply"), after = shared_file("collision/thick-cloth_t1.ply");
  if (!before || !after) GTEST_SKIP() << "no shared test data";
  const TriangleMesh first = load_mesh(*before), second = load_mesh(*after);
  ASSERT_EQ(first.faces, second.faces);
  for (const std::string& name : all_trees()) {
    const auto tree = tree_over(name, first);
    EXPECT_TRUE(tree->self_crossing().pairs.empty()) << name;
    const auto moving = tree->self_crossing_on_the_way(second.positions).pairs;
    const std::vector<FacePair> caught(moving.begin(), moving.end());
    tree->update(second.positions);
    const auto crossed = tree->self_crossing().pairs;
    EXPECT_EQ(crossed.size(), 46u) << name;
    std::size_t missed = 0;
    for (const FacePair& pair : crossed) missed += !std::binary_search(caught.begin(), caught.end(), pair) ? 1u : 0u;
    EXPECT_EQ(missed, 0u) << name;
    if (name == "aabb")
      std::printf("%zu pairs meet during the step, %zu cross at its end\n", caught.size(), crossed.size());
  }
}

}  // namespace
}  // namespace trocar
