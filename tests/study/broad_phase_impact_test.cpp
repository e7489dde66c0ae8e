// Compares times of impact of moving spheres with small time steps, and the order of collisions with its definition.
#include "study/broad_phase/broad_phase.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "cpu_collision/broad_phase/sweep_and_prune.hpp"
#include "tests/cpu_collision/broad_phase_support.hpp"

namespace trocar::broad {
namespace {

MovingSphere random_sphere(test::Dice& dice) {
  const double motion = dice.pick(10) == 0 ? 0.0 : dice.log_uniform(1e-3, 1.0);
  return {dice.in_cube(0.3), dice.in_cube(motion), dice.pick(8) == 0 ? 0.0 : dice.uniform(0.01, 0.2)};
}

double gap_at(const MovingSphere& a, const MovingSphere& b, double t) {
  return glm::distance(a.centre + t * a.motion, b.centre + t * b.motion) - a.radius - b.radius;
}

TEST(SphereImpact, FindsTheFirstTouch) {
  constexpr std::uint32_t kSeed = 51;
  constexpr int kSteps = 200;
  test::Dice dice(kSeed);
  int hits = 0;
  for (int k = 0; k < 20000; ++k) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << " case " << k);
    const MovingSphere a = random_sphere(dice), b = random_sphere(dice);
    const auto time = sphere_impact(a, b);
    EXPECT_EQ(time, sphere_impact(b, a));
    const double until = time.value_or(1.0);
    double nearest = gap_at(a, b, 0.0);
    for (int i = 0; i <= kSteps; ++i) nearest = std::min(nearest, gap_at(a, b, until * i / kSteps));
    ASSERT_GE(nearest, time ? std::min(gap_at(a, b, 0.0), -1e-12) : -1e-12);
    if (!time) continue;
    ++hits;
    ASSERT_GE(*time, 0.0);
    ASSERT_LE(*time, 1.0);
    if (*time > 0.0) {
      ASSERT_NEAR(gap_at(a, b, *time), 0.0, 1e-12);
    } else {
      ASSERT_LE(gap_at(a, b, 0.0), 0.0);
    }
  }
  std::printf("%d of 20000 spheres meet\n", hits);
  EXPECT_GT(hits, 1000);
}

TEST(SphereImpact, Degenerate) {
  const MovingSphere still{{0, 0, 0}, {0, 0, 0}, 1.0}, point{{0, 0, 0}, {0, 0, 0}, 0.0};
  EXPECT_EQ(sphere_impact(still, still), 0.0);
  EXPECT_EQ(sphere_impact(point, point), 0.0);
  EXPECT_EQ(sphere_impact(still, {{2, 0, 0}, {0, 0, 0}, 1.0}), 0.0);             // touching
  EXPECT_EQ(sphere_impact(still, {{2.5, 0, 0}, {0, 0, 0}, 1.0}), std::nullopt);  // at rest
  EXPECT_EQ(sphere_impact(still, {{3, 0, 0}, {-1, 0, 0}, 1.0}), 1.0);            // at the very end
  EXPECT_EQ(sphere_impact(still, {{3, 0, 0}, {1, 0, 0}, 1.0}), std::nullopt);    // away
  EXPECT_EQ(sphere_impact(still, {{3, 2, 0}, {-6, 0, 0}, 1.0}), 0.5);            // grazing
  EXPECT_EQ(sphere_impact(still, {{std::nan(""), 0, 0}, {0, 0, 0}, 1.0}), std::nullopt);
  EXPECT_EQ(sphere_impact(still, {{3, 0, 0}, {std::nan(""), 0, 0}, 1.0}), std::nullopt);
  EXPECT_EQ(sphere_impact({{0, 0, 0}, {1e-300, 0, 0}, 1.0}, {{3, 0, 0}, {0, 0, 0}, 1.0}), std::nullopt);
}

TEST(SphereImpact, ThroughThePeriodicBorder) {
  GridAxes axes;
  axes[0] = {0.25, Border::Periodic, 4};
  const MovingSphere a{{0.9, 0, 0}, {0.1, 0, 0}, 0.05}, b{{0.2, 0, 0}, {-0.1, 0, 0}, 0.05};
  EXPECT_EQ(sphere_impact(a, b), std::nullopt);
  ASSERT_TRUE(sphere_impact(a, b, axes));
  EXPECT_NEAR(*sphere_impact(a, b, axes), 1.0, 1e-12);
  // Compares the impact with that of every image, moved explicitly.
  test::Dice dice(52);
  for (int k = 0; k < 5000; ++k) {
    const MovingSphere p{dice.in_cube(3.0), dice.in_cube(0.3), 0.1}, q{dice.in_cube(3.0), dice.in_cube(0.3), 0.1};
    std::optional<double> first;
    for (int i = -8; i <= 8; ++i) {
      MovingSphere image = q;
      image.centre.x += i;
      const auto time = sphere_impact(p, image);
      if (time && (!first || *time < *first)) first = time;
    }
    const auto found = sphere_impact(p, q, axes);
    ASSERT_EQ(found.has_value(), first.has_value()) << k;
    if (!found) continue;
    ASSERT_NEAR(*found, *first, 1e-9);
  }
}

// For moving spheres, the candidates of the grid give the same collisions as all pairs, and no object is hit twice.
TEST(CollisionOrder, FirstPerObject) {
  constexpr std::uint32_t kSeed = 53;
  constexpr std::size_t kSpheres = 300;
  test::Dice dice(kSeed);
  CollisionOrder order, by_all;
  std::size_t kept = 0, hits = 0;
  for (int round = 0; round < 50; ++round) {
    std::vector<MovingSphere> spheres(kSpheres);
    std::vector<Box> boxes;
    for (MovingSphere& sphere : spheres) {
      sphere = {dice.in_cube(0.5), dice.in_cube(0.05), 0.02};
      boxes.push_back(swept_box(sphere));
    }
    const auto impact = [&](ObjectId a, ObjectId b) { return sphere_impact(spheres[index(a)], spheres[index(b)]); };
    std::vector<Pair> everyone;
    for (std::uint32_t i = 0; i < kSpheres; ++i)
      for (std::uint32_t j = i + 1; j < kSpheres; ++j) everyone.push_back({ObjectId(i), ObjectId(j)});
    GridAxes axes;
    for (GridAxis& axis : axes) axis.cell = 0.1;
    UniformGrid grid(axes);
    const auto found = order.first_collisions(grid.pairs(boxes), kSpheres, impact);
    const auto all = by_all.first_collisions(everyone, kSpheres, impact);
    ASSERT_EQ(order.all().size(), by_all.all().size()) << "seed " << kSeed;
    ASSERT_EQ(found.size(), all.size());
    std::vector<double> first_time(kSpheres, 2.0);
    for (std::size_t k = 0; k < found.size(); ++k) {
      EXPECT_EQ(found[k].pair, all[k].pair);
      EXPECT_EQ(found[k].time, all[k].time);
      for (const ObjectId object : {found[k].pair.first, found[k].pair.second}) {
        EXPECT_EQ(first_time[index(object)], 2.0) << "hit twice";
        first_time[index(object)] = found[k].time;
      }
    }
    // A collision is omitted only if one of its objects has one that is no later.
    for (const Collision& c : order.all())
      EXPECT_LE(std::min(first_time[index(c.pair.first)], first_time[index(c.pair.second)]), c.time);
    kept += found.size(), hits += order.all().size();
  }
  std::printf("%zu collisions, %zu of them the first of both objects\n", hits, kept);
  EXPECT_GT(hits, kept);
}

// The order of the candidates and equal times do not change the answer.
TEST(CollisionOrder, OrdersTiesByPair) {
  const auto at_half = [](ObjectId, ObjectId) { return std::optional<double>(0.5); };
  const Pair ab{ObjectId(0), ObjectId(1)}, bc{ObjectId(1), ObjectId(2)}, cd{ObjectId(2), ObjectId(3)};
  CollisionOrder order;
  for (const std::vector<Pair>& candidates : {std::vector{ab, bc, cd}, {cd, bc, ab}, {bc, ab, cd}}) {
    const auto kept = order.first_collisions(candidates, 4, at_half);
    ASSERT_EQ(kept.size(), 2u);
    EXPECT_EQ(kept[0].pair, ab);
    EXPECT_EQ(kept[1].pair, cd);
  }
  EXPECT_TRUE(order.first_collisions({}, 0, at_half).empty());
}

// Tests the example of the source: three spheres of radius 0.5.
TEST(CollisionOrder, ExampleOfTheSource) {
  std::vector<MovingSphere> spheres = {
      {{5.5, 5.2, 0.5}, {}, 0.5}, {{5.5, 5.2, 0.5}, {}, 0.5}, {{5.3, 5.6, 0.2}, {}, 0.5}};
  SweepAndPrune sweep;
  for (const MovingSphere& sphere : spheres) sweep.add(swept_box(sphere));
  sweep.update();
  CollisionOrder order;
  const auto kept = order.first_collisions(
      sweep.pairs(), 3, [&](ObjectId a, ObjectId b) { return sphere_impact(spheres[index(a)], spheres[index(b)]); });
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].pair, (Pair{ObjectId(0), ObjectId(1)}));
  EXPECT_EQ(kept[0].time, 0.0);
  EXPECT_EQ(order.all().size(), 3u);
}

}  // namespace
}  // namespace trocar::broad
