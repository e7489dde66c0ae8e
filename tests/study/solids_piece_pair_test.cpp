// Compares two hierarchies of pieces with a test of every pair of pieces, with and without the state of the last frame.
#include "study/solids/piece_pair.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "tests/cpu_collision/solids_bodies.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/shapes.hpp"

namespace trocar::solids {
namespace {

using glm::dvec3;
using test::Dice;

struct Slow {
  double distance = 1e9, depth = 0.0;
};

Slow all_pairs(const ConvexPieces& a, const RigidFrame& at_a, const ConvexPieces& b, const RigidFrame& at_b) {
  Slow slow;
  for (const PieceNode& first : a.nodes) {
    for (const PieceNode& second : b.nodes) {
      if (!first.leaf() || !second.leaf()) continue;
      const double distance = test::slow_distance(first.hull, at_a, second.hull, at_b).distance;
      slow.distance = std::min(slow.distance, distance);
      if (distance == 0.0) slow.depth = std::max(slow.depth, penetration(first.hull, at_a, second.hull, at_b).depth);
    }
  }
  return slow;
}

const ConvexPieces& ring() {
  static const ConvexPieces pieces =
      convex_pieces(shapes::torus(16, 8, 0.02f, 0.006f).view(), {.largest_deviation = 2e-3, .most_pieces = 8});
  return pieces;
}

TEST(PiecePair, AgainstAllPairs) {
  const std::uint32_t seed = std::random_device{}();
  Dice dice(seed);
  int overlapping = 0;
  for (int round = 0; round < 40; ++round) {
    const RigidFrame at_a = test::random_pose(dice, 0.05);
    RigidFrame at_b = test::random_pose(dice, 0.0);
    at_b.origin = at_a.origin + dice.uniform(0.0, 0.08) * dice.direction();
    PiecePair pair(ring(), ring());
    const PieceDistance fast = pair.distance(at_a, at_b);
    const Slow slow = all_pairs(ring(), at_a, ring(), at_b);
    ASSERT_EQ(fast.overlapping, slow.distance == 0.0) << "seed " << seed;
    ASSERT_NEAR(fast.distance, slow.distance, 1e-9) << "seed " << seed;
    ASSERT_NEAR(fast.depth, slow.depth, 1e-9) << "seed " << seed;
    if (!fast.overlapping) {
      ASSERT_NEAR(glm::distance(fast.on_first + fast.distance * fast.normal, fast.on_second), 0.0, 1e-9);
    }
    overlapping += fast.overlapping;
  }
  EXPECT_GT(overlapping, 5);
}

// Turns one of two linked rings: the state of the last frame changes the cost, never the answer.
TEST(PiecePair, CoherentMotion) {
  PiecePair kept(ring(), ring());
  long warm_tests = 0, cold_tests = 0, warm_steps = 0, cold_steps = 0;
  for (int frame = 0; frame < 200; ++frame) {
    const RigidFrame at_b{test::rotation({1, 0, 0}, 1.5 + 0.003 * frame), {0.02 + 0.0002 * frame, 0.0, 0.0}};
    const std::uint64_t before = allocations_so_far();
    const PieceDistance warm = kept.distance({}, at_b);
    ASSERT_EQ(allocations_so_far(), before);
    PiecePair fresh(ring(), ring());
    const PieceDistance cold = fresh.distance({}, at_b);
    ASSERT_EQ(warm.overlapping, cold.overlapping);
    ASSERT_NEAR(warm.distance, cold.distance, 1e-9);
    ASSERT_NEAR(warm.depth, cold.depth, 1e-9);
    warm_tests += warm.hull_tests, cold_tests += cold.hull_tests;
    warm_steps += warm.steps, cold_steps += cold.steps;
  }
  std::cout << "hull tests a frame " << warm_tests / 200.0 << ", fresh " << cold_tests / 200.0 << "; steps "
            << warm_steps / 200.0 << ", fresh " << cold_steps / 200.0 << "\n";
  EXPECT_LE(warm_tests, cold_tests);
  EXPECT_LT(2 * warm_steps, cold_steps);
}

}  // namespace
}  // namespace trocar::solids
