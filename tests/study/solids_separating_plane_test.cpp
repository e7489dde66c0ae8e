// Tests that "separated" is never wrong, that "not found" is rarely wrong for a wide gap, and that the last frame's
// plane saves updates.
#include "study/solids/separating_plane.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <random>
#include <vector>

#include "cpu_collision/solids/closest_features.hpp"
#include "tests/cpu_collision/solids_bodies.hpp"
#include "tests/support/allocation_counter.hpp"

namespace trocar::solids {
namespace {

using glm::dvec3;
using test::Dice;

constexpr PlaneWeight kWeights[] = {PlaneWeight::Constant, PlaneWeight::Decaying, PlaneWeight::Quality};

std::vector<dvec3> placed(const ConvexBody& body, const RigidFrame& pose) {
  std::vector<dvec3> points;
  for (const dvec3& v : body.vertices) points.push_back(pose.to_world(v));
  return points;
}

void expect_right(const std::vector<dvec3>& a, const std::vector<dvec3>& b, const SeparatingPlaneAnswer& answer) {
  if (!answer.separated) return;
  ASSERT_GT(answer.gap, 0.0);
  ASSERT_NEAR(glm::length(answer.plane.normal), 1.0, 1e-12);
  for (const dvec3& p : a) ASSERT_GT(glm::dot(answer.plane.normal, p), answer.plane.offset);
  for (const dvec3& p : b) ASSERT_LT(glm::dot(answer.plane.normal, p), answer.plane.offset);
}

TEST(SeparatingPlane, SeparatedIsAlwaysRight) {
  const std::uint32_t seed = std::random_device{}();
  Dice dice(seed);
  int apart = 0, wrong[3] = {};
  for (int round = 0; round < 3000; ++round) {
    const double unit = dice.log_uniform(1e-4, 1e3);  // any unit of length
    const ConvexBody a = convex_hull(test::random_cloud(dice, 0.05 * unit, 20));
    const ConvexBody b = convex_hull(test::random_cloud(dice, 0.05 * unit, 20));
    const RigidFrame at_a = test::random_pose(dice, unit);
    const RigidFrame at_b{test::random_pose(dice, 0.0).axes,
                          at_a.origin + unit * dice.uniform(0.0, 0.2) * dice.direction()};
    FeaturePair pair;
    const FeatureDistance truth = closest_features(a, at_a, b, at_b, pair);
    const auto first = placed(a, at_a), second = placed(b, at_b);
    for (const PlaneWeight weight : kWeights) {
      const SeparatingPlaneAnswer answer = separating_plane(first, second, nullptr, {.weight = weight});
      expect_right(first, second, answer);
      ASSERT_FALSE(truth.overlapping && answer.separated);
      ASSERT_LE(answer.gap, truth.distance + 1e-9 * unit);
      if (truth.distance > 0.02 * unit) wrong[static_cast<int>(weight)] += !answer.separated;
    }
    apart += truth.distance > 0.02 * unit;
  }
  std::cout << "seed " << seed << ": of " << apart << " pairs a fifth of a body apart, not found: constant " << wrong[0]
            << ", decaying " << wrong[1] << ", quality " << wrong[2] << "\n";
  for (const int count : wrong) EXPECT_LT(count, apart / 20);
}

TEST(SeparatingPlane, UnitsDoNotMatter) {
  Dice dice(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<dvec3> a(12), b(12), large_a(12), large_b(12);
    for (int i = 0; i < 12; ++i) {
      a[i] = dice.in_cube(1.0), b[i] = dice.in_cube(1.0) + dvec3(1.9, 0.5, 0.0);
      large_a[i] = 1024.0 * a[i], large_b[i] = 1024.0 * b[i];
    }
    const SeparatingPlaneAnswer small = separating_plane(a, b), large = separating_plane(large_a, large_b);
    EXPECT_EQ(small.separated, large.separated);
    EXPECT_EQ(small.updates, large.updates);
    EXPECT_NEAR(1024.0 * small.gap, large.gap, 1e-9);
  }
}

TEST(SeparatingPlane, DegenerateSets) {
  const std::vector<dvec3> origin{{0, 0, 0}}, other{{1, 0, 0}}, line{{-1, 0, 0}, {1, 0, 0}};
  for (const PlaneWeight weight : kWeights) {
    const SeparatingPlaneParams params{.weight = weight};
    EXPECT_TRUE(separating_plane(origin, other, nullptr, params).separated);
    EXPECT_FALSE(separating_plane(origin, origin, nullptr, params).separated);
    EXPECT_FALSE(separating_plane(origin, line, nullptr, params).separated);
    EXPECT_FALSE(separating_plane(line, line, nullptr, params).separated);
  }
  const std::vector<dvec3> nan{{NAN, 0, 0}};
  EXPECT_FALSE(separating_plane(origin, nan).separated);
}

// Over many pairs of bodies; for a single pair the last plane may cost more. The quality weight hardly turns the plane
// towards a point just beyond it, so that a search may end without a plane: in about one of 150,000 frames here.
TEST(SeparatingPlane, LastFramesPlaneSavesUpdates) {
  constexpr int kPairs = 20, kFrames = 300;
  const std::uint32_t seed = std::random_device{}();
  Dice dice(seed);
  for (const PlaneWeight weight : kWeights) {
    long warm = 0, cold = 0, not_found = 0;
    for (int pair = 0; pair < kPairs; ++pair) {
      const ConvexBody a = convex_hull(test::random_cloud(dice, 0.05, 20)),
                       b = convex_hull(test::random_cloud(dice, 0.05, 20));
      const dvec3 axis = dice.direction(), start = dice.direction(), direction = dice.across(start);
      Plane plane;
      for (int frame = 0; frame < kFrames; ++frame) {
        const RigidFrame at_b{test::rotation(axis, 0.01 * frame), 0.2 * start + 0.0005 * (frame - 150.0) * direction};
        const auto first = placed(a, {}), second = placed(b, at_b);
        const std::uint64_t before = allocations_so_far();
        const SeparatingPlaneAnswer answer = separating_plane(first, second, &plane, {.weight = weight});
        ASSERT_EQ(allocations_so_far(), before);
        expect_right(first, second, answer);
        plane = answer.plane;
        not_found += !answer.separated;
        if (!answer.separated) continue;
        warm += answer.updates, cold += separating_plane(first, second, nullptr, {.weight = weight}).updates;
      }
    }
    std::cout << "seed " << seed << " weight " << static_cast<int>(weight) << ": "
              << static_cast<double>(warm) / (kPairs * kFrames) << " updates a frame with the last plane, "
              << static_cast<double>(cold) / (kPairs * kFrames) << " without\n";
    EXPECT_LT(2 * warm, cold);
    EXPECT_LE(not_found, weight == PlaneWeight::Quality ? kPairs * kFrames / 100 : 0);
  }
}

}  // namespace
}  // namespace trocar::solids
