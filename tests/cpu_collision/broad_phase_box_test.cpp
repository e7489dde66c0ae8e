// Tests boxes: closed and empty ones, rounding outwards, and cubes that contain an object in every orientation.
#include "cpu_collision/broad_phase/box.hpp"

#include <gtest/gtest.h>

#include "tests/geometry/random_steps.hpp"

namespace trocar::broad {
namespace {

TEST(BroadPhaseBox, TouchingOverlaps) {
  const Box unit{{0, 0, 0}, {1, 1, 1}};
  EXPECT_TRUE(overlap(unit, {{1, 0, 0}, {2, 1, 1}}));
  EXPECT_TRUE(overlap(unit, {{1, 1, 1}, {1, 1, 1}}));
  EXPECT_FALSE(overlap(unit, {{std::nextafter(1.f, 2.f), 0, 0}, {2, 1, 1}}));
  EXPECT_TRUE(overlap({{-1, 0, 0}, {-0.f, 1, 1}}, {{0.f, 0, 0}, {1, 1, 1}}));
}

TEST(BroadPhaseBox, EmptyBoxesOverlapNothing) {
  const Box everything{glm::vec3(-INFINITY), glm::vec3(INFINITY)};
  const Box inverted{{0, 1, 0}, {1, 0, 1}}, unknown{{0, std::nanf(""), 0}, {1, 1, 1}};
  for (const Box& box : {Box{}, inverted, unknown, cube(glm::vec3(0.f), -1.f), cube(glm::vec3(std::nanf("")), 1.f)}) {
    EXPECT_TRUE(empty(box));
    EXPECT_FALSE(overlap(box, everything));
    EXPECT_FALSE(overlap(box, box));
  }
  EXPECT_FALSE(empty(everything));
  EXPECT_FALSE(empty(cube(glm::vec3(2.f), 0.f)));
}

TEST(BroadPhaseBox, OfPoints) {
  const glm::vec3 points[] = {{1, 5, -2}, {0, 7, 3}, {0.5f, 6, 9}};
  const Box box = box_of(points);
  EXPECT_EQ(box.low, glm::vec3(0, 5, -2));
  EXPECT_EQ(box.high, glm::vec3(1, 7, 9));
  EXPECT_TRUE(empty(box_of({})));
  const glm::vec3 faulty[] = {{1, 5, -2}, {0, std::nanf(""), 3}, {1, 1, 1}};
  EXPECT_TRUE(empty(box_of(faulty)));
  EXPECT_EQ(united({}, box).low, box.low);
  EXPECT_EQ(united(box, {}).high, box.high);
  EXPECT_EQ(united(box, cube(glm::vec3(0.f), 1.f)).low, glm::vec3(-1, -1, -2));
}

TEST(BroadPhaseBox, RoundsOutwards) {
  constexpr std::uint32_t kSeed = 11;
  test::Dice dice(kSeed);
  for (int k = 0; k < 10000; ++k) {
    const glm::dvec3 low = dice.in_cube(1.0), high = low + glm::abs(dice.in_cube(dice.log_uniform(1e-12, 1.0)));
    const Box box = box_around(low, high);
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_LE(double(box.low[axis]), low[axis]) << "seed " << kSeed;
      EXPECT_GE(double(box.high[axis]), high[axis]) << "seed " << kSeed;
      EXPECT_GT(double(box.low[axis]), low[axis] - 1.2e-7);
    }
  }
  const Box exact = box_around({0.5, -2.0, 0.0}, {0.75, 4.0, 0.0});
  EXPECT_EQ(exact.low, glm::vec3(0.5f, -2.f, 0.f));
  EXPECT_EQ(exact.high, glm::vec3(0.75f, 4.f, 0.f));
}

// The fixed cube is larger than the dynamic box and contains the object in every orientation.
TEST(BroadPhaseBox, CubeContainsEveryOrientation) {
  test::Dice dice(12);
  std::vector<glm::dvec3> points(20);
  double radius = 0.0;
  for (glm::dvec3& p : points) p = dice.in_cube(0.1), radius = std::max(radius, glm::length(p));
  for (int k = 0; k < 200; ++k) {
    const glm::dvec3 axis = dice.direction(), side = dice.across(axis), up = glm::cross(axis, side);
    std::vector<glm::vec3> turned;
    for (const glm::dvec3& p : points) turned.push_back(glm::vec3(p.x * axis + p.y * side + p.z * up));
    const Box box = box_of(turned), fixed = cube(glm::vec3(0.f), float(radius) * 1.0001f);
    for (int i = 0; i < 3; ++i) {
      EXPECT_GE(box.low[i], fixed.low[i]);
      EXPECT_LE(box.high[i], fixed.high[i]);
    }
  }
}

}  // namespace
}  // namespace trocar::broad
