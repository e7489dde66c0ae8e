// Checks the distance of two capsules against the smallest distance between points sampled on their axes. Moves
// overlapping capsules apart along the normal and checks that they then only touch.
#include "study/solids/capsules.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/geometry/random_steps.hpp"
#include "tests/geometry/slow_distance.hpp"

namespace trocar::solids {
namespace {

using glm::dvec3;
using test::Dice;

double slow_axes(const Capsule& a, const Capsule& b) {
  return test::least_over_unit(
      [&](double u) { return test::slow_point_segment(glm::mix(a.from, a.to, u), b.from, b.to); });
}

// Axes of nearly one direction that meet between their ends: rounding leaves a gap of some 1e-15 m, whose direction
// says nothing: taken for the normal, it left such capsules up to 0.16 mm deep in each other.
TEST(Capsules, NearlyParallelAxesThatMeetAreSeparatedByTheNormal) {
  const std::uint32_t seed = std::random_device{}();
  Dice dice(seed);
  for (int i = 0; i < 100000; ++i) {
    const dvec3 along = dice.direction(), beside = dice.log_uniform(1e-3, 0.1) * dice.across(along);
    const dvec3 meeting = dice.in_cube(0.1), other = glm::normalize(along + beside);
    const Capsule a{meeting - dice.uniform(0, 0.2) * along, meeting + dice.uniform(0, 0.2) * along, 0.01};
    Capsule b{meeting - dice.log_uniform(1e-14, 0.2) * other, meeting + dice.uniform(0, 0.2) * other, 0.01};
    const CapsuleDistance found = capsule_distance(a, b);
    ASSERT_NEAR(found.distance, -0.02, 1e-12) << "seed " << seed << " case " << i;
    b.from -= found.distance * found.normal, b.to -= found.distance * found.normal;
    ASSERT_NEAR(capsule_distance(a, b).distance, 0.0, 1e-9) << "seed " << seed << " case " << i;
  }
}

TEST(Capsules, RandomPairs) {
  const std::uint32_t seed = std::random_device{}();
  Dice dice(seed);
  for (int i = 0; i < 20000; ++i) {
    Capsule a{dice.in_cube(0.1), dice.in_cube(0.1), dice.log_uniform(1e-4, 0.05)};
    Capsule b{dice.in_cube(0.1), dice.in_cube(0.1), dice.log_uniform(1e-4, 0.05)};
    switch (dice.pick(8)) {
      case 0:
        b.to = b.from + dice.uniform(-2, 2) * (a.to - a.from);  // parallel
        break;
      case 1:
        b.from = glm::mix(a.from, a.to, dice.uniform(0, 1));  // axes meet
        break;
      case 2:
        a.to = a.from;
        break;
      case 3:
        b = a;
        break;
      case 4:
        a.to = a.from, b.to = b.from = a.from;
        break;
      default:
        break;
    }
    const CapsuleDistance found = capsule_distance(a, b);
    ASSERT_NEAR(found.distance, slow_axes(a, b) - a.radius - b.radius, 1e-8) << "seed " << seed << " case " << i;
    ASSERT_NEAR(glm::length(found.normal), 1.0, 1e-12);
    ASSERT_NEAR(glm::distance(found.on_first + found.distance * found.normal, found.on_second), 0.0, 1e-12);
    // When the capsules are moved apart by the distance, they touch; no shorter move separates them.
    Capsule moved = b;
    moved.from -= found.distance * found.normal, moved.to -= found.distance * found.normal;
    ASSERT_NEAR(capsule_distance(a, moved).distance, 0.0, 1e-9) << "seed " << seed << " case " << i;
    const dvec3 other = 0.95 * std::abs(found.distance) * dice.direction();
    moved = b, moved.from += other, moved.to += other;
    if (found.distance < -1e-6) {
      ASSERT_LT(capsule_distance(a, moved).distance, 0.0);
    }
    if (found.distance > 1e-6) {
      ASSERT_GT(capsule_distance(a, moved).distance, 0.0);
    }
  }
}

}  // namespace
}  // namespace trocar::solids
