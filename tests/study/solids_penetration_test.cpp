// Compares the penetration depth with a full test of every axis of the two bodies; moves the bodies apart along the
// normal.
#include "study/solids/piece_pair.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "cpu_collision/solids/closest_features.hpp"
#include "tests/cpu_collision/solids_bodies.hpp"

namespace trocar::solids {
namespace {

using glm::dvec3;
using glm::vec3;
using test::Dice;

double overlap(const ConvexBody& a, const RigidFrame& at_a, const ConvexBody& b, const RigidFrame& at_b,
               const dvec3& n) {
  double top = -1e9, bottom = 1e9;
  for (const dvec3& v : a.vertices) top = std::max(top, glm::dot(n, at_a.to_world(v)));
  for (const dvec3& v : b.vertices) bottom = std::min(bottom, glm::dot(n, at_b.to_world(v)));
  return top - bottom;
}

// Computes the depth along every face normal and every product of two edges, with both signs, by full projections.
double slow_depth(const ConvexBody& a, const RigidFrame& at_a, const ConvexBody& b, const RigidFrame& at_b) {
  double least = 1e9;
  const auto try_axis = [&](const dvec3& axis) {
    const double length = glm::length(axis);
    if (length < 1e-12) return;
    for (const double sign : {1.0, -1.0}) least = std::min(least, overlap(a, at_a, b, at_b, sign / length * axis));
  };
  for (const auto& f : a.faces) try_axis(at_a.axes * f.normal);
  for (const auto& f : b.faces) try_axis(at_b.axes * f.normal);
  for (const auto& e : a.edges) {
    for (const auto& g : b.edges) {
      try_axis(glm::cross(at_a.axes * glm::normalize(a.vertices[e.vertex[1]] - a.vertices[e.vertex[0]]),
                          at_b.axes * glm::normalize(b.vertices[g.vertex[1]] - b.vertices[g.vertex[0]])));
    }
  }
  return least;
}

TEST(Penetration, AgainstEveryAxis) {
  const std::uint32_t seed = std::random_device{}();
  Dice dice(seed);
  int overlapping = 0;
  for (int round = 0; round < 6000; ++round) {
    const ConvexBody a = convex_hull(test::random_cloud(dice, 0.05, 12)),
                     b = convex_hull(test::random_cloud(dice, 0.05, 12));
    const RigidFrame at_a = test::random_pose(dice, 0.1);
    RigidFrame at_b = test::random_pose(dice, 0.0);
    at_b.origin = at_a.origin + dice.uniform(0.0, 0.08) * dice.direction();
    FeaturePair pair;
    if (!closest_features(a, at_a, b, at_b, pair).overlapping) {
      if (a.dimension == 3 && b.dimension == 3) {
        ASSERT_LT(penetration(a, at_a, b, at_b).depth, 1e-12);
      }
      continue;
    }
    const Penetration found = penetration(a, at_a, b, at_b);
    if (a.dimension + b.dimension > 2) {
      ASSERT_NEAR(found.depth, slow_depth(a, at_a, b, at_b), 1e-9)
          << "seed " << seed << " dims " << a.dimension << b.dimension;
    }
    ASSERT_NEAR(glm::length(found.normal), 1.0, 1e-9);
    ASSERT_NEAR(overlap(a, at_a, b, at_b, found.normal), found.depth, 1e-9);
    ASSERT_NEAR(glm::distance(found.on_first, found.on_second + found.depth * found.normal), 0.0, 1e-6);
    // Moved by the depth plus a micrometre they are apart by a micrometre.
    RigidFrame moved = at_b;
    moved.origin += (found.depth + 1e-6) * found.normal;
    FeaturePair after;
    const FeatureDistance parted = closest_features(a, at_a, b, moved, after);
    ASSERT_FALSE(parted.overlapping) << "seed " << seed << " round " << round;
    ASSERT_NEAR(parted.distance, 1e-6, 1e-9)
        << "seed " << seed << " round " << round << " dims " << a.dimension << b.dimension;
    ++overlapping;
  }
  std::cout << "seed " << seed << ": " << overlapping << " overlapping pairs\n";
  EXPECT_GT(overlapping, 800);
}

TEST(Penetration, Cubes) {
  std::vector<vec3> corners;
  for (int i = 0; i < 8; ++i) corners.emplace_back(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
  const ConvexBody cube = convex_hull(corners);
  const Penetration pressed = penetration(cube, {}, cube, {glm::dmat3(1.0), {1.75, 0.5, 0}});
  EXPECT_NEAR(pressed.depth, 0.25, 1e-12);
  EXPECT_NEAR(glm::distance(pressed.normal, dvec3(1, 0, 0)), 0.0, 1e-12);
  EXPECT_NEAR(penetration(cube, {}, cube, {}).depth, 2.0, 1e-12);
  EXPECT_NEAR(penetration(cube, {}, cube, {glm::dmat3(1.0), {2, 2, 2}}).depth, 0.0, 1e-12);
  EXPECT_NEAR(penetration(cube, {}, cube, {glm::dmat3(1.0), {2.5, 0, 0}}).depth, -0.5, 1e-12);
}

}  // namespace
}  // namespace trocar::solids
