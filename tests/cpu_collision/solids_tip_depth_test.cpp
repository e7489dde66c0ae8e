// Tests the depth of a tip: in a sphere against its radius, in a liver with and without a tree.
#include "cpu_collision/solids/point_in_solid.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mesh/organ_maker.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/shapes.hpp"

namespace trocar::solids {
namespace {

using glm::dvec3;
using glm::vec3;

TEST(TipDepth, OnASphere) {
  const TriangleMesh ball = shapes::icosphere(4, 0.05f);
  const SolidBox box = box_of(ball.positions);
  test::Dice dice(1);
  for (int i = 0; i < 300; ++i) {
    const dvec3 direction = dice.direction();
    const double radius = dice.uniform(0.005, 0.08);
    if (std::abs(radius - 0.05) < 2e-4) continue;
    const TipDepth answer = tip_depth(ball.view(), box, radius * direction);
    EXPECT_EQ(answer.location, radius < 0.05 ? PointLocation::Inside : PointLocation::Outside);
    EXPECT_NEAR(answer.depth, 0.05 - radius, 2e-4);
    EXPECT_NEAR(glm::distance(answer.on_surface, radius * direction), std::abs(answer.depth), 1e-12);
    EXPECT_GT(glm::dot(answer.out, direction), radius < 0.01 ? 0.0 : 0.9);
    EXPECT_FALSE(answer.by_winding);
  }
  const TipDepth on = tip_depth(ball.view(), box, dvec3(ball.positions[7]));
  EXPECT_EQ(on.location, PointLocation::OnSurface);
  EXPECT_EQ(on.depth, 0.0);
  EXPECT_GT(glm::dot(on.out, glm::normalize(dvec3(ball.positions[7]))), 0.9);
  EXPECT_EQ(tip_depth(ball.view(), box, dvec3(NAN, 0, 0)).depth, -INFINITY);
}

// The direction outwards is that of the nearest point, also beside an edge or a corner; on the surface it is the
// normal.
TEST(TipDepth, OutPointsAlongTheShortestPath) {
  const TriangleMesh cube = shapes::cube(0.1f);
  const SolidBox box = box_of(cube.positions);
  const auto tree = make_surface_tree({});
  tree->rebuild(cube.view());
  test::Dice dice(3);
  for (int i = 0; i < 300; ++i) {
    const dvec3 tip = dice.in_cube(0.08);
    for (const TipDepth& answer : {tip_depth(cube.view(), box, tip), tip_depth(*tree, cube.view(), box, tip)}) {
      ASSERT_NE(answer.depth, 0.0);
      ASSERT_NEAR(glm::distance(answer.out, (answer.on_surface - tip) / answer.depth), 0.0, 1e-12);
      ASSERT_NEAR(glm::length(answer.out), 1.0, 1e-12);
    }
  }
  const dvec3 on(0.03, 0.02, double(0.05f));
  for (const TipDepth& answer : {tip_depth(cube.view(), box, on), tip_depth(*tree, cube.view(), box, on)}) {
    EXPECT_EQ(answer.location, PointLocation::OnSurface);
    EXPECT_EQ(answer.out, dvec3(0, 0, 1));
  }
}

TEST(TipDepth, TreeAndBruteForceAgree) {
  const TriangleMesh liver = make_liver({.faces = 4000});
  const SolidBox box = box_of(liver.positions);
  const auto tree = make_surface_tree({});
  tree->rebuild(liver.view());
  test::Dice dice(2);
  int inside = 0;
  std::uint64_t allocated = 0;
  for (int i = 0; i < 400; ++i) {
    const dvec3 at(liver.positions[dice.pick(static_cast<int>(liver.positions.size()))]);
    const dvec3 tip = at + dice.log_uniform(1e-5, 3e-2) * dice.direction();
    const std::uint64_t before = allocations_so_far();
    const TipDepth fast = tip_depth(*tree, liver.view(), box, tip);
    if (i >= 100) allocated += allocations_so_far() - before;
    const TipDepth slow = tip_depth(liver.view(), box, tip);
    ASSERT_EQ(fast.location, slow.location);
    ASSERT_NEAR(fast.depth, slow.depth, 1e-12);
    ASSERT_NEAR(glm::distance(fast.on_surface, slow.on_surface), 0.0, 1e-6);
    inside += fast.location == PointLocation::Inside;
  }
  EXPECT_GT(inside, 100);
  EXPECT_EQ(allocated, 0u);
}

}  // namespace
}  // namespace trocar::solids
