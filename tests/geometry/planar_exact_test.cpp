// Compares the exact signs with 128-bit integers.
#include "geometry/exact_sign.hpp"

#include <gtest/gtest.h>

#include "tests/geometry/planar_random.hpp"

namespace trocar::planar {
namespace {

using namespace test;

TEST(PlanarExact, CrossAndDotAgreeWithIntegers) {
  Dice dice(1);
  Tally tally{"cross_sign, dot_sign"};
  int wrong = 0;
  for (int i = 0; i < kCases; ++i) {
    const std::int64_t reach = dice.reach(std::int64_t{1} << 50);
    const double scale = dice.scale();
    const Whole a = dice.point(reach), b = dice.point(reach);
    const Whole c = dice.pick(2) ? a : dice.point(reach);
    // The second difference is parallel or perpendicular to a -> b, exactly or by a step beside it.
    const Whole along = dice.pick(2) ? b - a : Whole{a.y - b.y, b.x - a.x};
    const Whole d = dice.pick(3) ? c + dice.within(2) * along + dice.point(dice.pick(2)) : dice.point(reach);
    const int turn = sign(cross(b - a, d - c)), ahead = sign(dot(b - a, d - c));
    const dvec2 p = scaled(a, scale), q = scaled(b, scale), r = scaled(c, scale), s = scaled(d, scale);
    wrong += cross_sign(p, q, r, s) != turn || exact_cross_sign(p, q, r, s) != turn;
    wrong += dot_sign(p, q, r, s) != ahead || exact_dot_sign(p, q, r, s) != ahead;
    ++tally.cases;
    tally.degenerate += turn == 0 || ahead == 0;
  }
  EXPECT_EQ(wrong, 0);
}

// Coordinates whose differences are not doubles: a grid point moved by single units in the last place.
TEST(PlanarExact, NeighbouringDoubles) {
  const dvec2 a(0.5, 0.5), b(12.0, 12.0), c(24.0, 24.0);
  const double unit = 0x1p-53;
  for (int i = 0; i < 256; ++i) {
    for (int j = 0; j < 256; ++j) {
      const dvec2 p(0.5 + i * unit, 0.5 + j * unit);
      // p, b and c: the line is x == y.
      EXPECT_EQ(side_of_line(b, c, p), sign_of(j - i));
      EXPECT_EQ(side_of_line(p, b, c), sign_of(j - i));
    }
  }
  EXPECT_EQ(side_of_line(a, a, c), 0);
  EXPECT_EQ(exact_cross_sign(a, b, a, c), 0);
}

// The same doubles, each first difference turned by a quarter: its dot product is the cross product of the original.
TEST(PlanarExact, NeighbouringDoublesDot) {
  const dvec2 b(12.0, 12.0), c(24.0, 24.0);
  const double unit = 0x1p-53;
  int wrong = 0;
  for (int i = 0; i < 256; ++i) {
    for (int j = 0; j < 256; ++j) {
      const dvec2 p(0.5 + i * unit, 0.5 + j * unit);
      wrong += dot_sign(quarter_turn(b), quarter_turn(c), b, p) != sign_of(j - i);
      wrong += dot_sign(quarter_turn(p), quarter_turn(b), p, c) != sign_of(j - i);
      wrong += dot_sign(p, c, quarter_turn(p), quarter_turn(b)) != sign_of(j - i);
      wrong += dot_sign(p, p, b, c) != 0 || cross_sign(b, c, p, p) != 0;
    }
  }
  EXPECT_EQ(wrong, 0);
}

// The filter decides where both products are far from cancelling, with every combination of signs and zeros.
TEST(PlanarExact, SmallDifferences) {
  const int steps[] = {-2, -1, 0, 1, 2};
  for (const int x : steps)
    for (const int y : steps)
      for (const int u : steps)
        for (const int v : steps) {
          const dvec2 a(7.0, -3.0), b = a + dvec2(x, y), c(-1.0, 5.0), d = c + dvec2(u, v);
          EXPECT_EQ(cross_sign(a, b, c, d), sign_of(x * v - y * u));
          EXPECT_EQ(exact_cross_sign(a, b, c, d), sign_of(x * v - y * u));
          EXPECT_EQ(dot_sign(a, b, c, d), sign_of(x * u + y * v));
          EXPECT_EQ(exact_dot_sign(a, b, c, d), sign_of(x * u + y * v));
        }
}

}  // namespace
}  // namespace trocar::planar
