// Tests moving triangles on named cases, on meetings that are exact in binary fractions (also in nearly one plane), and
// on random motions, compared with dense sampling by the exact test.
#include "cpu_collision/trees/motion_crossing.hpp"

#include <gtest/gtest.h>

#include <array>

#include "geometry/refine.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using test::Dice;

constexpr double kTolerance = 1e-8;
constexpr double kSampled = 1e-12;  // m  rounding of the distances that check the answers

MovingPoint still(const dvec3& p) { return {p, p}; }

TEST(MotionCrossing, CornerThroughFace) {
  const MovingPoint a = still({0, 0, 0}), b = still({1, 0, 0}), c = still({0, 1, 0});
  const auto through = corner_meets_face({{0.2, 0.2, 1}, {0.2, 0.2, -3}}, a, b, c, kTolerance);
  ASSERT_TRUE(through);
  EXPECT_NEAR(through->time, 0.25, 1e-6);
  EXPECT_LE(through->time, 0.25);
  EXPECT_LE(through->apart, kTolerance);
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
  EXPECT_NEAR(crossing->time, 0.5, 1e-6);
  EXPECT_FALSE(edge_meets_edge(a, b, {{2, -1, 1}, {2, -1, -1}}, {{2, 1, 1}, {2, 1, -1}}, kTolerance));
  // These are two parallel edges that slide onto each other, and edges without length.
  EXPECT_TRUE(edge_meets_edge(a, b, {{-1, 1, 0}, {-1, -1, 0}}, {{1, 1, 0}, {1, -1, 0}}, kTolerance));
  EXPECT_TRUE(edge_meets_edge(a, a, {{-1, 1, 0}, {-1, -1, 0}}, {{-1, 1, 0}, {-1, -1, 0}}, kTolerance));
  EXPECT_FALSE(edge_meets_edge(a, a, still({1, 0, 0}), still({1, 1, 0}), kTolerance));
}

dvec3 between(const dvec3& a, const dvec3& b, double t) { return a + t * (b - a); }
Triangle at(const MovingTriangle& m, double t) {
  return {between(m.before.a, m.after.a, t), between(m.before.b, m.after.b, t), between(m.before.c, m.after.c, t)};
}

// Points and velocities that are multiples of 1/64, with the last axis multiplied by `flatness`, then sheared so that
// the nearly common plane is oblique to the axes: every position of a motion is exact in double.
struct ExactDice {
  Dice dice;
  double flatness;

  int whole(int most) { return dice.pick(2 * most + 1) - most; }
  dvec3 vector(int most) { return dvec3(whole(most), whole(most), whole(most) * flatness) / 64.0; }
  // A moving point that is at `position` at `time`.
  MovingPoint through(const dvec3& position, double time) {
    const dvec3 velocity = vector(64);
    return {sheared(position - time * velocity), sheared(position + (1.0 - time) * velocity)};
  }
  static dvec3 sheared(const dvec3& p) { return {p.x, p.y - p.x, p.z + p.x + 2.0 * p.y}; }
};

struct ExactMeeting {
  double time;
  std::array<MovingPoint, 4> points;
};

// The first point meets the triangle of the others.
ExactMeeting corner_on_face(ExactDice& dice) {
  const double time = dice.dice.pick(17) / 16.0;
  const dvec3 a = dice.vector(64), b = dice.vector(64), c = dice.vector(64);
  const int u = dice.dice.pick(9), v = dice.dice.pick(9 - u);
  const dvec3 at = a + u / 8.0 * (b - a) + v / 8.0 * (c - a);
  return {time, {dice.through(at, time), dice.through(a, time), dice.through(b, time), dice.through(c, time)}};
}

// The edge of the first two points meets the edge of the last two.
ExactMeeting edge_on_edge(ExactDice& dice) {
  const double time = dice.dice.pick(17) / 16.0;
  const dvec3 a = dice.vector(64), b = dice.vector(64), along = 8.0 * dice.vector(8);
  const dvec3 at = a + dice.dice.pick(9) / 8.0 * (b - a), c = at - dice.dice.pick(9) / 8.0 * along;
  return {time, {dice.through(a, time), dice.through(b, time), dice.through(c, time), dice.through(c + along, time)}};
}

dvec3 position_at(const MovingPoint& p, double time) { return p.before + time * (p.after - p.before); }

double distance_at(const ExactMeeting& made, bool edges, double time) {
  const auto& p = made.points;
  const dvec3 q[] = {position_at(p[0], time), position_at(p[1], time), position_at(p[2], time),
                     position_at(p[3], time)};
  return edges ? closest_triangles({q[0], q[1], q[1]}, {q[2], q[3], q[3]}).distance
               : closest_segment_triangle(q[0], q[0], {q[1], q[2], q[3]}).distance;
}

constexpr double kFlatnesses[] = {1.0, 0x1p-8, 0x1p-16, 0x1p-24, 0x1p-30, 0.0};
constexpr int kExactCases = 4000;  // of each flatness

// No meeting is missed or late, and the features are at most as far apart as reported: the tolerance, except for a few
// motions within nearly one plane.
constexpr double kMostBeyond = 0.005;  // 1  of all cases

TEST(MotionCrossing, ExactMeetingsOfFeatures) {
  std::printf("seed 31\n");
  double most = 0.0;
  int beyond = 0;
  for (const double flatness : kFlatnesses) {
    ExactDice dice{Dice(31), flatness};
    for (int k = 0; k < kExactCases; ++k) {
      const bool edges = k % 2;
      const ExactMeeting made = edges ? edge_on_edge(dice) : corner_on_face(dice);
      const auto& p = made.points;
      const auto met = edges ? edge_meets_edge(p[0], p[1], p[2], p[3], kTolerance)
                             : corner_meets_face(p[0], p[1], p[2], p[3], kTolerance);
      ASSERT_TRUE(met) << "flatness " << flatness << ", case " << k;
      ASSERT_LE(met->time, made.time) << "flatness " << flatness << ", case " << k;
      const double apart = distance_at(made, edges, met->time);
      ASSERT_LE(apart, met->apart + kSampled) << "flatness " << flatness << ", case " << k;
      beyond += met->apart > kTolerance;
      most = std::max(most, apart);
    }
  }
  const auto cases = static_cast<int>(std::size(kFlatnesses)) * kExactCases;
  EXPECT_LE(beyond, kMostBeyond * cases);
  std::printf("%d cases, %d of them reported farther apart than the tolerance; at most %.1e m apart\n", cases, beyond,
              most);
}

TEST(MotionCrossing, ExactMeetingsOfTriangles) {
  std::printf("seed 32\n");
  int cases = 0, beyond = 0;
  for (const double flatness : kFlatnesses) {
    ExactDice dice{Dice(32), flatness};
    for (int k = 0; k < kExactCases / 4; ++k) {
      const bool edges = k % 2;
      const ExactMeeting made = edges ? edge_on_edge(dice) : corner_on_face(dice);
      const MovingPoint more[] = {dice.through(dice.vector(64), made.time), dice.through(dice.vector(64), made.time)};
      const auto triangle = [](const MovingPoint& a, const MovingPoint& b, const MovingPoint& c) {
        return MovingTriangle{{a.before, b.before, c.before}, {a.after, b.after, c.after}};
      };
      const auto& p = made.points;
      const MovingTriangle first = edges ? triangle(p[0], p[1], more[0]) : triangle(p[0], more[0], more[1]);
      const MovingTriangle second = edges ? triangle(p[2], p[3], more[1]) : triangle(p[1], p[2], p[3]);
      const auto met = triangles_meet(first, second, kTolerance);
      ASSERT_TRUE(met && triangles_meet_at_all(first, second, kTolerance)) << flatness << ", case " << k;
      ASSERT_LE(met->time, made.time) << "flatness " << flatness << ", case " << k;
      ASSERT_LE(closest_triangles(at(first, met->time), at(second, met->time)).distance, met->apart + kSampled)
          << "flatness " << flatness << ", case " << k;
      ++cases;
      beyond += met->apart > kTolerance;
    }
  }
  EXPECT_LE(beyond, kMostBeyond * cases);
  std::printf("%d cases, %d of them reported farther apart than the tolerance\n", cases, beyond);
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
    ASSERT_EQ(met.has_value(), triangles_meet_at_all(first, second, kTolerance)) << "seed 9, case " << k;
    if (first_meeting <= 1.0) {
      ASSERT_TRUE(met) << "seed 9, case " << k;
      ASSERT_LE(met->time, first_meeting) << "seed 9, case " << k;
      ++meetings;
    }
    // Samples are at most 1/800 of the motion from the time of meeting.
    ASSERT_FALSE(least > 0.02 && met) << "seed 9, case " << k;
    if (!met) ++apart;
    if (!met) continue;
    ASSERT_LE(closest_triangles(at(first, met->time), at(second, met->time)).distance, kTolerance + kSampled)
        << "seed 9, case " << k;
  }
  EXPECT_GT(meetings, 200);
  EXPECT_GT(apart, 300);
  std::printf("%d met, %d did not\n", meetings, apart);
}

}  // namespace
}  // namespace trocar
