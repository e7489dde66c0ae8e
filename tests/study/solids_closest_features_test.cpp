// Compares the walk over features with all pairs of triangles: random, degenerate, touching and moving bodies.
#include "cpu_collision/solids/closest_features.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "study/solids/piece_pair.hpp"
#include "tests/cpu_collision/solids_bodies.hpp"
#include "tests/support/allocation_counter.hpp"

namespace trocar::solids {
namespace {

using glm::dvec3;
using glm::vec3;
using test::Dice;

constexpr double kClose = 2e-10;  // m, of bodies of 0.1 m

// Checks the proof in the answer: each body lies on its own side of the slab between the points.
void expect_certified(const ConvexBody& a, const RigidFrame& at_a, const ConvexBody& b, const RigidFrame& at_b,
                      const FeatureDistance& answer) {
  if (answer.overlapping || answer.distance < 1e-9) return;
  const dvec3 n = (answer.on_second - answer.on_first) / answer.distance;
  for (const dvec3& v : a.vertices) ASSERT_LE(glm::dot(n, at_a.to_world(v) - answer.on_first), 1e-9);
  for (const dvec3& v : b.vertices) ASSERT_GE(glm::dot(n, at_b.to_world(v) - answer.on_second), -1e-9);
}

struct Totals {
  int pairs = 0, overlapping = 0, searched = 0, repeated = 0;
  long steps = 0;
};

void compare(Dice& dice, Totals& totals, const ConvexBody& a, const ConvexBody& b, double apart) {
  const RigidFrame at_a = test::random_pose(dice, 0.1);
  RigidFrame at_b = test::random_pose(dice, 0.0);
  at_b.origin = at_a.origin + dice.uniform(0.0, apart) * dice.direction();
  FeaturePair pair;
  if (dice.pick(2) && !a.faces.empty()) pair.first = {FeatureKind::Face, 0};
  const FeatureDistance fast = closest_features(a, at_a, b, at_b, pair);
  const test::SlowDistance slow = test::slow_distance(a, at_a, b, at_b);
  if (slow.surfaces > kClose) {
    ASSERT_EQ(fast.overlapping, slow.distance == 0.0) << totals.pairs << " surfaces apart " << slow.surfaces;
  }
  ASSERT_NEAR(fast.distance, slow.distance, kClose) << totals.pairs;
  ASSERT_NEAR(glm::distance(fast.on_first, fast.on_second), fast.distance, 1e-12);
  expect_certified(a, at_a, b, at_b, fast);
  // A walk that starts from its own answer rarely moves, and finds the same answer.
  FeaturePair again = pair;
  const FeatureDistance repeated = closest_features(a, at_a, b, at_b, again);
  ASSERT_NEAR(repeated.distance, fast.distance, kClose);
  ASSERT_EQ(repeated.overlapping, fast.overlapping);
  if (!fast.overlapping) totals.repeated += repeated.steps > 0;
  ++totals.pairs;
  totals.overlapping += fast.overlapping;
  totals.searched += fast.searched;
  totals.steps += fast.steps;
}

// Compares ten poses of each pair of bodies.
void compare_many(Dice& dice, Totals& totals, int pairs, int most_points) {
  while (totals.pairs < pairs && !testing::Test::HasFatalFailure()) {
    const ConvexBody a = convex_hull(test::random_cloud(dice, 0.05, most_points));
    const ConvexBody b = convex_hull(test::random_cloud(dice, 0.05, most_points));
    for (int pose = 0; pose < 10; ++pose) compare(dice, totals, a, b, pose % 4 ? 0.15 : 0.6);
  }
}

TEST(ClosestFeatures, AHundredThousandRandomPairs) {
  const std::uint32_t seed = std::random_device{}();
  Dice dice(seed);
  Totals totals;
  compare_many(dice, totals, 100000, 10);
  std::cout << "seed " << seed << ": " << totals.pairs << " pairs, " << totals.overlapping << " overlapping, "
            << totals.searched << " searched, " << totals.repeated << " moved from their answer, "
            << double(totals.steps) / totals.pairs << " steps from a cold start\n";
  EXPECT_GT(totals.overlapping, 5000);
  EXPECT_LT(totals.repeated, 100);
  EXPECT_LE(totals.searched, totals.pairs / 100);
}

TEST(ClosestFeatures, LargerBodies) {
  const std::uint32_t seed = std::random_device{}();
  Dice dice(seed);
  Totals totals;
  compare_many(dice, totals, 500, 80);
  std::cout << "seed " << seed << ": " << totals.overlapping << " overlapping, " << totals.searched << " searched, "
            << double(totals.steps) / totals.pairs << " steps\n";
  EXPECT_LE(totals.searched, totals.pairs / 10);
}

ConvexBody box(const vec3& half) {
  std::vector<vec3> points;
  for (int i = 0; i < 8; ++i) points.push_back(half * vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1));
  return convex_hull(points);
}

FeatureDistance cold(const ConvexBody& a, const ConvexBody& b, const RigidFrame& at_b) {
  FeaturePair pair;
  return closest_features(a, {}, b, at_b, pair);
}

// Tests parallel faces, parallel edges, vertex to vertex and edge to edge; sizes and gaps are exact numbers.
TEST(ClosestFeatures, NamedCases) {
  const ConvexBody cube = box(vec3(1.f));
  const auto at = [](double x, double y, double z) { return RigidFrame{glm::dmat3(1.0), {x, y, z}}; };
  EXPECT_NEAR(cold(cube, cube, at(3, 0, 0)).distance, 1.0, 1e-12);
  EXPECT_NEAR(cold(cube, cube, at(3, 1.5, 0.5)).distance, 1.0, 1e-12);
  EXPECT_NEAR(cold(cube, cube, at(3, 3, 0)).distance, std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(cold(cube, cube, at(3, 3, 1.2)).distance, std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(cold(cube, cube, at(3, 3, 3)).distance, std::sqrt(3.0), 1e-12);
  for (const RigidFrame& touching :
       {at(2, 0, 0), at(2, 2, 0), at(2, 2, 2), at(2, 1.5, 0.3), at(0, 0, 0), at(1, 1, 1)}) {
    const FeatureDistance answer = cold(cube, cube, touching);
    EXPECT_TRUE(answer.overlapping);
    EXPECT_EQ(answer.distance, 0.0);
    EXPECT_EQ(answer.on_first, answer.on_second);
  }
  const double turn = 0.785398163397448309616;  // an eighth
  const RigidFrame edge_on{test::rotation({0, 0, 1}, turn), {1.0 + std::sqrt(2.0) + 0.5, 0, 0}};
  EXPECT_NEAR(cold(cube, cube, edge_on).distance, 0.5, 1e-12);
  const RigidFrame crossed{test::rotation({0, 0, 1}, turn) * test::rotation({1, 0, 0}, turn),
                           {0, 0, 1.0 + std::sqrt(2.0) + 0.25}};
  EXPECT_NEAR(cold(cube, cube, crossed).distance, 0.25, 1e-12);
}

TEST(ClosestFeatures, SheetsSegmentsAndPoints) {
  const ConvexBody sheet = convex_hull(std::vector<vec3>{{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}});
  const ConvexBody line = convex_hull(std::vector<vec3>{{-1, 0, 0}, {1, 0, 0}});
  const ConvexBody point = convex_hull(std::vector<vec3>{{0, 0, 0}});
  const auto at = [](double x, double y, double z) { return RigidFrame{glm::dmat3(1.0), {x, y, z}}; };
  for (const ConvexBody* other : {&sheet, &line, &point}) {
    EXPECT_NEAR(cold(sheet, *other, at(0.3, 0, 2)).distance, 2.0, 1e-12);
    EXPECT_NEAR(cold(sheet, *other, at(0.3, 0, -2)).distance, 2.0, 1e-12);
    EXPECT_TRUE(cold(sheet, *other, at(0.3, 0, 0)).overlapping);
    EXPECT_NEAR(cold(*other, point, at(0, 5, 0)).distance, other == &sheet ? 4.0 : 5.0, 1e-12);
  }
  EXPECT_NEAR(cold(line, line, at(0, 0.5, 0)).distance, 0.5, 1e-12);
  EXPECT_NEAR(cold(line, line, at(5, 0, 0)).distance, 3.0, 1e-12);
  EXPECT_TRUE(cold(line, line, at(1.5, 0, 0)).overlapping);
  EXPECT_NEAR(cold(sheet, sheet, at(2.5, 0, 0)).distance, 0.5, 1e-12);
  EXPECT_TRUE(cold(point, point, at(0, 0, 0)).overlapping);
}

// Tests thin plates above each other, where the walk must escape from a local minimum behind a face.
TEST(ClosestFeatures, BehindAThinPlate) {
  const ConvexBody plate = box(vec3(1.f, 1.f, 1e-3f)), needle = box(vec3(1e-3f, 1e-3f, 0.5f));
  Dice dice(3);
  for (std::uint32_t f = 0; f < plate.faces.size(); ++f) {
    for (std::uint32_t g = 0; g < needle.faces.size(); ++g) {
      for (int i = 0; i < 20; ++i) {
        const RigidFrame pose{test::rotation(dice.direction(), dice.uniform(0, 3)),
                              {dice.in_cube(0.8).x, 0.1, i % 2 ? 0.3 : -0.7}};
        FeaturePair pair{{FeatureKind::Face, f}, {FeatureKind::Face, g}};
        const FeatureDistance fast = closest_features(plate, {}, needle, pose, pair);
        const test::SlowDistance slow = test::slow_distance(plate, {}, needle, pose);
        ASSERT_NEAR(fast.distance, slow.distance, 1e-12);
        ASSERT_EQ(fast.overlapping, slow.distance == 0.0 || slow.surfaces == 0.0);
        ASSERT_FALSE(fast.searched);
      }
    }
  }
}

// Moves two bodies of about 150 faces on smooth paths past each other: coherence shortens the walk.
TEST(ClosestFeatures, CoherentMotion) {
  const std::uint32_t seed = std::random_device{}();
  Dice dice(seed);
  long warm_steps = 0, cold_steps = 0, frames = 0;
  for (int run = 0; run < 10; ++run) {
    const auto cloud = [&] {
      std::vector<vec3> points(80);
      for (vec3& p : points) p = vec3(0.05 * dice.direction() * dvec3(1.0, 0.7, 0.5));
      return points;
    };
    const ConvexBody a = convex_hull(cloud()), b = convex_hull(cloud());
    const dvec3 axis = dice.direction(), start = dice.direction(), direction = dice.across(start);
    FeaturePair pair;
    for (int frame = 0; frame < 300; ++frame) {
      const RigidFrame at_b{test::rotation(axis, 0.01 * frame), 0.12 * start + 0.0005 * (frame - 150.0) * direction};
      const std::uint64_t before = allocations_so_far();
      const FeatureDistance warm = closest_features(a, {}, b, at_b, pair);
      ASSERT_EQ(allocations_so_far(), before);
      const FeatureDistance fresh = cold(a, b, at_b);
      ASSERT_NEAR(warm.distance, fresh.distance, kClose);
      if (frame % 50 == 0) {
        ASSERT_NEAR(warm.distance, test::slow_distance(a, {}, b, at_b).distance, kClose);
      }
      if (frame == 0) continue;
      warm_steps += warm.steps, cold_steps += fresh.steps, ++frames;
    }
  }
  std::cout << "seed " << seed << ": steps a frame " << double(warm_steps) / frames << " with coherence, "
            << double(cold_steps) / frames << " without\n";
  EXPECT_LT(4 * warm_steps, cold_steps);
}

}  // namespace
}  // namespace trocar::solids
