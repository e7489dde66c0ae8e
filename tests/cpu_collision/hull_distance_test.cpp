// Compares the distance of convex hulls with that of pairs of triangles, with closed forms, and with its own proof: a
// slab that separates the hulls.
#include "geometry/hull_distance.hpp"

#include <gtest/gtest.h>

#include <array>

#include "cpu_collision/reference.hpp"
#include "tests/cpu_collision/random_parts.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using test::Dice;

Triangle random_face(Dice& dice, double size) {
  const dvec3 at = dice.in_cube(dice.pick(2) ? 0.02 : 0.002) + dvec3(0.0, 0.0, dice.uniform(0.0, 0.01));
  const auto corner = [&] { return dvec3(glm::vec3(at + dice.in_cube(size))); };
  Triangle face{corner(), corner(), corner()};
  const int kind = dice.pick(8);
  if (kind == 0) face.c = face.b;                   // a segment
  if (kind == 1) face.b = face.c = face.a;          // a point
  if (kind == 2) face.c = 0.5 * (face.a + face.b);  // three corners on a line
  return face;
}

TEST(HullDistance, EqualsTheDistanceOfPairsOfTriangles) {
  Dice dice(1310);
  std::printf("seed 1310\n");
  int met = 0;
  for (int i = 0; i < 30000; ++i) {
    const PartShape shape = test::random_part(dice);
    const Triangle face = random_face(dice, dice.log_uniform(1e-5, 0.02));
    const std::array<dvec3, 3> corners{face.a, face.b, face.c};
    const HullDistance found = hull_distance(shape.corners, corners);
    const double expected = reference_part_distance(shape, RigidFrame{}, face);
    ASSERT_NEAR(found.distance, expected, kDistanceError) << "case " << i << " corners " << shape.corners.size();
    ASSERT_NEAR(glm::distance(found.on_first, found.on_second), found.distance, 1e-9) << "case " << i;
    met += expected == 0.0;
  }
  EXPECT_GT(met, 300);
}

// A plane through each closest point, across the line between them, has its hull behind it: no other points are closer.
TEST(HullDistance, IsProvenByASlab) {
  Dice dice(1311);
  std::printf("seed 1311\n");
  for (int i = 0; i < 30000; ++i) {
    std::vector<dvec3> first, second;
    const dvec3 apart = dice.log_uniform(1e-6, 0.1) * dice.direction();
    for (int k = dice.pick(12); k >= 0; --k) first.push_back(dice.in_cube(0.01));
    for (int k = dice.pick(12); k >= 0; --k) second.push_back(apart + dice.in_cube(0.01));
    const HullDistance found = hull_distance(first, second);
    if (found.distance < 1e-9) continue;
    const dvec3 n = (found.on_second - found.on_first) / found.distance;
    double high = -1.0, low = 1.0;
    for (const dvec3& p : first) high = std::max(high, glm::dot(n, p - found.on_first));
    for (const dvec3& p : second) low = std::min(low, glm::dot(n, p - found.on_first));
    ASSERT_GE(low - high, found.distance - kDistanceError) << "case " << i;
  }
}

// A search that may end beyond a range gives the same bits within it and a lower bound beyond; hulls_within() decides
// like the whole search. Half of the ranges are next to the distance itself.
TEST(HullDistance, EndsEarlyOnlyBeyondTheRange) {
  Dice dice(1313);
  std::printf("seed 1313\n");
  int near = 0, early = 0;
  for (int i = 0; i < 30000; ++i) {
    const PartShape shape = test::random_part(dice);
    const Triangle face = random_face(dice, dice.log_uniform(1e-5, 0.02));
    const std::array<dvec3, 3> corners{face.a, face.b, face.c};
    const HullDistance whole = hull_distance(shape.corners, corners);
    const double ranges[] = {dice.log_uniform(1e-6, 0.1), whole.distance + dice.uniform(-2e-9, 2e-9), whole.distance};
    for (const double range : ranges) {
      const HullDistance found = hull_distance(shape.corners, corners, range);
      ASSERT_EQ(hulls_within(shape.corners, corners, range), whole.distance < range) << "case " << i;
      ASSERT_LE(found.distance, whole.distance + kDistanceError) << "case " << i;
      if (whole.distance > range) {
        ASSERT_GT(found.distance, range) << "case " << i;
        early += found.distance != whole.distance;
        continue;
      }
      ASSERT_EQ(found.distance, whole.distance) << "case " << i;
      ASSERT_EQ(found.on_first, whole.on_first) << "case " << i;
      ASSERT_EQ(found.on_second, whole.on_second) << "case " << i;
      ++near;
    }
  }
  std::printf("%d searches within the range, %d ended early\n", near, early);
  EXPECT_GT(near, 10000);
  EXPECT_GT(early, 10000);
}

TEST(HullDistance, DegenerateHulls) {
  const std::vector<dvec3> point{{0, 0, 0}}, twice{{0, 0, 0}, {0, 0, 0}}, segment{{-1, 0, 1}, {1, 0, 1}},
      collinear{{-1, 0, 1}, {0, 0, 1}, {1, 0, 1}, {1, 0, 1}}, flat{{-1, -1, 2}, {1, -1, 2}, {1, 1, 2}, {-1, 1, 2}};
  EXPECT_EQ(hull_distance(point, point).distance, 0.0);
  EXPECT_EQ(hull_distance(twice, point).distance, 0.0);
  EXPECT_NEAR(hull_distance(point, segment).distance, 1.0, 1e-12);
  EXPECT_NEAR(hull_distance(collinear, point).distance, 1.0, 1e-12);
  EXPECT_NEAR(hull_distance(segment, flat).distance, 1.0, 1e-12);
  EXPECT_NEAR(hull_distance(flat, flat).distance, 0.0, 1e-12);
  EXPECT_NEAR(hull_distance(flat, collinear).distance, 1.0, 1e-12);
}

// The exit of a ray from a ball, and from a box with a ball: closed forms. The exit of a random hull: stepping.
TEST(ExitDistance, EqualsClosedFormsAndStepping) {
  const std::vector<dvec3> ball{{0, 0, 0}};
  EXPECT_NEAR(exit_distance(ball, 2.0, {0, 0, 1}, {0, 0, 1}), 1.0, 1e-8);
  EXPECT_NEAR(exit_distance(ball, 2.0, {0, 0, -5}, {0, 0, 1}), 7.0, 1e-8);
  EXPECT_NEAR(exit_distance(ball, 2.0, {0, 1, -5}, {0, 0, 1}), 5.0 + std::sqrt(3.0), 1e-8);
  EXPECT_EQ(exit_distance(ball, 2.0, {0, 0, 5}, {0, 0, 1}), 0.0);
  EXPECT_EQ(exit_distance(ball, 2.0, {0, 3, -5}, {0, 0, 1}), 0.0);
  Dice dice(1312);
  std::printf("seed 1312\n");
  for (int i = 0; i < 300; ++i) {
    const PartShape shape = test::random_part(dice);
    const dvec3 point = dice.in_cube(0.01), direction = dice.direction();
    const double exit = exit_distance(shape.corners, shape.radius, point, direction);
    constexpr double kStride = 2e-5;
    double last = 0.0;
    for (double along = 0.0; along < 0.06; along += kStride) {
      const std::array<dvec3, 1> at{point + along * direction};
      if (hull_distance(shape.corners, at).distance <= shape.radius) last = along;
    }
    // A ray that only grazes the part may leave it between two samples.
    if (last == 0.0 && exit < kStride) continue;
    const std::array<dvec3, 1> beyond{point + (exit + kStride) * direction};
    EXPECT_GE(exit, last - 1e-8) << "case " << i;
    EXPECT_GT(hull_distance(shape.corners, beyond).distance, shape.radius) << "case " << i;
    if (last > 0.0) {
      EXPECT_LE(exit, last + kStride + 1e-8) << "case " << i;
    }
  }
}

}  // namespace
}  // namespace trocar
