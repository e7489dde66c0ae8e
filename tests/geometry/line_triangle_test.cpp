// Compares the intersection of a line with a triangle with the closest points of a segment and a triangle, for
// degenerate input first.
#include "geometry/line_triangle.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "geometry/refine.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using test::Dice;

constexpr Triangle kFace{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
constexpr double kEndless = std::numeric_limits<double>::infinity();

TEST(LineTriangle, DegenerateLinesAndFaces) {
  const Triangle point{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, needle{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  EXPECT_EQ(line_meets_triangle({1, 1, 0}, {0, 0, 1}, kEndless, point), 1.0);
  EXPECT_FALSE(line_meets_triangle({1, 1.001, 0}, {0, 0, 1}, kEndless, point));
  EXPECT_EQ(line_meets_triangle({1.5, 0, -1}, {0, 0, 1}, kEndless, needle), 1.0);
  EXPECT_EQ(line_meets_triangle({0.2, 0.2, 0}, {0, 0, 0}, 1.0, kFace), 0.0);
  EXPECT_FALSE(line_meets_triangle({0.2, 0.2, 0.1}, {0, 0, 0}, 1.0, kFace));
}

TEST(LineTriangle, WithinThePlane) {
  EXPECT_EQ(line_meets_triangle({0.2, 0.2, 0}, {1, 0, 0}, kEndless, kFace), 0.0);
  EXPECT_NEAR(line_meets_triangle({-1, 0.25, 0}, {0.5, 0, 0}, kEndless, kFace).value_or(-1), 2.0, 1e-12);
  EXPECT_FALSE(line_meets_triangle({-1, 0.25, 0}, {0.5, 0, 0}, 1.9, kFace));
  EXPECT_FALSE(line_meets_triangle({-1, 1.25, 0}, {1, 0, 0}, kEndless, kFace));
  EXPECT_NEAR(line_meets_triangle({-1, 0, 0}, {1, 0, 0}, kEndless, kFace).value_or(-1), 1.0, 1e-12);  // along an edge
  EXPECT_FALSE(line_meets_triangle({-1, 0.25, 1e-9}, {1, 0, 0}, kEndless, kFace));
}

// Tests lines in an oblique plane, whose computed rise is only rounding error.
TEST(LineTriangle, WithinObliquePlane) {
  Dice dice(18);
  int met = 0;
  for (int k = 0; k < 20000; ++k) {
    const dvec3 a = dice.in_cube(1), u = dice.in_cube(0.1), v = dice.in_cube(0.1);
    const auto random_point = [&] { return a + dice.uniform(-3, 3) * u + dice.uniform(-3, 3) * v; };
    const Triangle face{a, a + u, a + v};
    const dvec3 from = random_point(), to = random_point();
    const double apart = closest_segment_triangle(from, to, face).distance;
    const auto t = line_meets_triangle(from, to - from, 1.0, face);
    ASSERT_EQ(t.has_value(), apart < 1e-12) << "seed 18, case " << k;
    if (!t) continue;
    ++met;
    const dvec3 point = from + *t * (to - from);
    ASSERT_LT(closest_segment_triangle(point, point, face).distance, 1e-12) << "seed 18, case " << k;
  }
  EXPECT_GT(met, 1000);
}

// Tests exactly collinear corners, whose normal is only rounding error.
TEST(LineTriangle, ObliqueNeedles) {
  Dice dice(19);
  for (int k = 0; k < 20000; ++k) {
    const dvec3 a = dvec3(glm::round(dice.in_cube(64))) / 64.0, d = dvec3(1 + dice.pick(9), dice.pick(9), 3) / 256.0;
    const Triangle needle{a, a + d, a + 2.0 * d};
    const dvec3 from = dice.in_cube(2);
    const auto t = line_meets_triangle(from, needle.b - from, kEndless, needle);
    ASSERT_TRUE(t) << "seed 19, case " << k;
    ASSERT_NEAR(*t, 1.0, 1e-9) << "seed 19, case " << k;
    ASSERT_FALSE(line_meets_triangle(from, a + 3.0 * d - from, kEndless, needle)) << "seed 19, case " << k;
  }
}

TEST(LineTriangle, CornersAndEdgesBelongToTheFace) {
  for (const dvec3& p : {dvec3(0, 0, 0), dvec3(1, 0, 0), dvec3(0, 1, 0), dvec3(0.5, 0.5, 0), dvec3(0.5, 0, 0)})
    EXPECT_EQ(line_meets_triangle(p + dvec3(0, 0, 2), {0, 0, -1}, kEndless, kFace), 2.0);
  EXPECT_FALSE(line_meets_triangle({0, 0, 2}, {0, 0, -1}, 1.999, kFace));
  EXPECT_FALSE(line_meets_triangle({0, 0, 2}, {0, 0, 1}, kEndless, kFace));
}

TEST(LineTriangle, AgreesWithClosestPoints) {
  Dice dice(17);
  int met = 0;
  for (int k = 0; k < 200000; ++k) {
    const Triangle face{dice.in_cube(1), dice.in_cube(1), dice.in_cube(1)};
    const dvec3 from = dice.in_cube(1), to = dice.in_cube(1);
    const double apart = closest_segment_triangle(from, to, face).distance;
    const auto t = line_meets_triangle(from, to - from, 1.0, face);
    ASSERT_FALSE(apart > 1e-12 && t) << "seed 17, case " << k;
    if (!t) continue;
    ++met;
    const dvec3 point = from + *t * (to - from);
    ASSERT_LT(closest_segment_triangle(point, point, face).distance, 1e-10) << "seed 17, case " << k;
  }
  EXPECT_GT(met, 5000);
  EXPECT_LT(met, 60000);
}

}  // namespace
}  // namespace trocar
