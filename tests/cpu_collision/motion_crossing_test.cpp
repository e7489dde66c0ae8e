// Moving triangles: named cases, and random motions against dense sampling with the exact test.
#include "cpu_collision/trees/motion_crossing.hpp"

#include <gtest/gtest.h>

#include "geometry/refine.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using test::Dice;

constexpr double kTolerance = 1e-8;

MovingPoint still(const dvec3& p) { return {p, p}; }

TEST(MotionCrossing, CornerThroughFace) {
  const MovingPoint a = still({0, 0, 0}), b = still({1, 0, 0}), c = still({0, 1, 0});
  const auto through = corner_meets_face({{0.2, 0.2, 1}, {0.2, 0.2, -3}}, a, b, c, kTolerance);
  ASSERT_TRUE(through);
  EXPECT_NEAR(*through, 0.25, 1e-6);
  EXPECT_LE(*through, 0.25);
  EXPECT_TRUE(corner_meets_face({{0.5, 0.5, 1}, {0.5, 0.5, -1}}, a, b, c, kTolerance));     // through the long side
  EXPECT_TRUE(corner_meets_face({{0, 0, 1}, {0, 0, 0}}, a, b, c, kTolerance));              // ends on a corner
  EXPECT_FALSE(corner_meets_face({{0.6, 0.6, 1}, {0.6, 0.6, -1}}, a, b, c, kTolerance));    // beside it
  EXPECT_FALSE(corner_meets_face({{0.2, 0.2, 1}, {0.2, 0.2, 1e-6}}, a, b, c, kTolerance));  // stops short
  EXPECT_TRUE(corner_meets_face(still({0.2, 0.2, 0}), a, b, c, kTolerance));                // lies on it
  EXPECT_FALSE(corner_meets_face(still({0.2, 0.2, 1}), a, b, c, kTolerance));
}

TEST(MotionCrossing, EdgeThroughEdge) {
  const MovingPoint a = still({-1, 0, 0}), b = still({1, 0, 0});
  const auto crossing = edge_meets_edge(a, b, {{0, -1, 1}, {0, -1, -1}}, {{0, 1, 1}, {0, 1, -1}}, kTolerance);
  ASSERT_TRUE(crossing);
  EXPECT_NEAR(*crossing, 0.5, 1e-6);
  EXPECT_FALSE(edge_meets_edge(a, b, {{2, -1, 1}, {2, -1, -1}}, {{2, 1, 1}, {2, 1, -1}}, kTolerance));
  // Two parallel edges that slide onto each other, and edges without length.
  EXPECT_TRUE(edge_meets_edge(a, b, {{-1, 1, 0}, {-1, -1, 0}}, {{1, 1, 0}, {1, -1, 0}}, kTolerance));
  EXPECT_TRUE(edge_meets_edge(a, a, {{-1, 1, 0}, {-1, -1, 0}}, {{-1, 1, 0}, {-1, -1, 0}}, kTolerance));
  EXPECT_FALSE(edge_meets_edge(a, a, still({1, 0, 0}), still({1, 1, 0}), kTolerance));
}

dvec3 between(const dvec3& a, const dvec3& b, double t) { return a + t * (b - a); }
Triangle at(const MovingTriangle& m, double t) {
  return {between(m.before.a, m.after.a, t), between(m.before.b, m.after.b, t), between(m.before.c, m.after.c, t)};
}

TEST(MotionCrossing, RandomMotionsAgainstSampling) {
  Dice dice(9);
  int meetings = 0, apart = 0;
  for (int k = 0; k < 6000; ++k) {
    const auto triangle = [&](const dvec3& centre) {
      return Triangle{centre + dice.in_cube(0.3), centre + dice.in_cube(0.3), centre + dice.in_cube(0.3)};
    };
    const dvec3 goal = dice.in_cube(0.5);
    const MovingTriangle first{triangle(dice.in_cube(0.2)), triangle(dice.in_cube(0.2))},
        second{triangle(goal + dice.direction()), triangle(goal - dice.direction())};
    double least = 1e30, first_meeting = 2.0;
    for (int i = 0; i <= 400; ++i) {
      const double time = i / 400.0, gap = closest_triangles(at(first, time), at(second, time)).distance;
      least = std::min(least, gap);
      if (gap == 0.0) first_meeting = std::min(first_meeting, time);
    }
    if (closest_triangles(first.before, second.before).distance == 0.0) continue;
    const auto met = triangles_meet(first, second, kTolerance);
    if (first_meeting <= 1.0) {
      ASSERT_TRUE(met) << "seed 9, case " << k;
      ASSERT_LE(*met, first_meeting) << "seed 9, case " << k;
      ++meetings;
    }
    // Samples lie at most 1/800 of the motion from the moment of meeting.
    ASSERT_FALSE(least > 0.02 && met) << "seed 9, case " << k;
    if (!met) ++apart;
    if (!met) continue;
    ASSERT_LT(closest_triangles(at(first, *met), at(second, *met)).distance, 20 * kTolerance) << "seed 9, case " << k;
  }
  EXPECT_GT(meetings, 200);
  EXPECT_GT(apart, 300);
  std::printf("%d met, %d did not\n", meetings, apart);
}

}  // namespace
}  // namespace trocar
