// Compares the intersection of a line with a triangle with the closest points of a segment and a triangle, for
// degenerate input first.
#include "geometry/closest.hpp"

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

// A line in the plane crosses a side at a small angle: it enters the face there. For nearly parallel lines the closest
// points are known to fewer digits than the crossing.
TEST(LineTriangle, EntersAcrossANearlyParallelSide) {
  Dice dice(20);
  std::printf("seed 20\n");
  for (int k = 0; k < 20000; ++k) {
    const double size = dice.log_uniform(1e-3, 10.0), angle = dice.log_uniform(1e-9, 0.1),
                 share = dice.uniform(0.2, 0.8);
    const double turn = dice.uniform(0.0, 6.283), c = std::cos(turn), s = std::sin(turn);
    // The side lies along x, the face above it; then all turns in the plane z = 0.
    const auto turned = [&](double x, double y) { return size * dvec3(c * x - s * y, s * x + c * y, 0.0); };
    const Triangle face{turned(0.0, 0.0), turned(1.0, 0.0), turned(0.5, 1.0)};
    const Triangle faces[] = {face, {face.b, face.c, face.a}, {face.c, face.b, face.a}};
    const dvec3 direction = turned(std::cos(angle), std::sin(angle)), crossing = turned(share, 0.0);
    const double length = dice.uniform(0.0, 3.0);
    const dvec3 from = crossing - length * direction;
    const auto t = line_meets_triangle(from, direction, kEndless, faces[dice.pick(3)]);
    const double rounding = 3e-13 / angle;
    ASSERT_TRUE(t) << "case " << k << " angle " << angle;
    ASSERT_NEAR(*t, length, 1e-12 + rounding) << "case " << k << " angle " << angle;
    if (length < 2.0 * rounding + 1e-9) continue;
    // It ends before the crossing; it misses when it is moved outward beyond the side's end.
    ASSERT_FALSE(line_meets_triangle(from, direction, length - 1e-9 - 2.0 * rounding, face)) << "case " << k;
    const dvec3 aside = turned(1.0 - share + 2.0 * rounding + 0.01, 0.0);
    ASSERT_FALSE(line_meets_triangle(from + aside, direction, kEndless, face)) << "case " << k << " angle " << angle;
  }
}

// A line parallel to the plane belongs to it up to the rounding of the coordinates, and no farther.
TEST(LineTriangle, LeavesThePlaneBeyondRounding) {
  Dice dice(21);
  std::printf("seed 21\n");
  for (int k = 0; k < 5000; ++k) {
    const double size = dice.log_uniform(1e-4, 1e3);
    const Triangle face{size * kFace.a, size * kFace.b, size * kFace.c};
    const dvec3 from(-size * dice.uniform(0.1, 2.0), 0.25 * size, 0.0),
        direction(dice.log_uniform(1e-3, 1e3), 0.0, 0.0);
    const double expected = -from.x / direction.x;
    const auto at_height = [&](double height) {
      return line_meets_triangle(from + dvec3(0.0, 0.0, height * size), direction, kEndless, face);
    };
    for (const double sign : {-1.0, 1.0}) {
      ASSERT_NEAR(at_height(sign * 1e-16).value_or(-1.0), expected, 1e-12 * expected) << "case " << k;
      ASSERT_FALSE(at_height(sign * 1e-11)) << "case " << k;
      ASSERT_FALSE(at_height(sign * 1e-6)) << "case " << k;
      ASSERT_FALSE(at_height(sign * 1.0)) << "case " << k;
    }
  }
}

// The sign of every orientation and of the direction: through each of many points of a face and just beside its sides.
TEST(LineTriangle, PiercesInsideAndMissesOutside) {
  Dice dice(22);
  std::printf("seed 22\n");
  for (int k = 0; k < 20000; ++k) {
    const double size = dice.log_uniform(1e-3, 10.0);
    const dvec3 a = dice.in_cube(1.0), e = dice.direction(), u = size * e, v = size * dice.across(e);
    Triangle face{a, a + u, a + v};
    if (dice.pick(2)) std::swap(face.b, face.c);
    const double x = dice.uniform(0.0, 1.0), y = dice.uniform(0.0, 1.0), off = dice.log_uniform(1e-9, 0.1);
    dvec3 direction = glm::normalize(glm::cross(u, v)) + 0.5 * dice.direction();
    if (dice.pick(2)) direction = -direction;
    const double t = dice.log_uniform(1e-3, 10.0);
    const auto through = [&](double along_u, double along_v) {
      return line_meets_triangle(a + along_u * u + along_v * v - t * direction, direction, kEndless, face);
    };
    ASSERT_NEAR(through((1.0 - off) * x * (1.0 - y) + 1e-10, (1.0 - off) * x * y + 1e-10).value_or(-1.0), t,
                1e-9 * (1.0 + t))
        << "case " << k;
    const double rounding = 1e-12 * (1.0 + t) / size;
    if (off < rounding) continue;
    ASSERT_FALSE(through(-off, y)) << "case " << k;
    ASSERT_FALSE(through(x, -off)) << "case " << k;
    ASSERT_FALSE(through(x + off, 1.0 - x + off)) << "case " << k;
  }
}

// All thresholds are relative: after scaling by a power of two the same lines meet, at the same parameter.
TEST(LineTriangle, DoesNotDependOnTheUnit) {
  Dice dice(23);
  std::printf("seed 23\n");
  for (int k = 0; k < 20000; ++k) {
    const double scale = std::ldexp(1.0, dice.pick(2) ? dice.pick(30) : -dice.pick(30));
    const dvec3 a = dice.in_cube(1), u = dice.in_cube(0.1), v = dice.pick(3) ? dice.in_cube(0.1) : 2.0 * u;
    const auto in_plane = [&] { return a + dice.uniform(-2, 2) * u + dice.uniform(-2, 2) * v; };
    const double off = dice.pick(3) ? dice.log_uniform(1e-17, 1e-8) : 0.0;
    const dvec3 from = in_plane() + off * dice.direction(), to = in_plane() + off * dice.direction();
    const auto t = line_meets_triangle(from, to - from, 1.0, {a, a + u, a + v});
    const auto grown =
        line_meets_triangle(scale * from, scale * (to - from), 1.0, {scale * a, scale * (a + u), scale * (a + v)});
    ASSERT_EQ(t, grown) << "case " << k << " scale " << scale;
    // A longer direction gives a smaller parameter.
    const auto longer = line_meets_triangle(from, 4.0 * (to - from), 0.25, {a, a + u, a + v});
    ASSERT_EQ(t.has_value(), longer.has_value()) << "case " << k;
    if (t) {
      ASSERT_EQ(*t, 4.0 * *longer) << "case " << k;
    }
  }
}

}  // namespace
}  // namespace trocar
