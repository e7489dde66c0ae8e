// Tests moving triangles on named cases, on meetings that are exact in binary fractions (also in nearly one plane), and
// on random motions, compared with dense sampling by the exact test.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "cpu_collision/trees/motion_crossing.hpp"
#include "geometry/refine.hpp"
#include "mesh/exact_sign.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/support/shapes.hpp"

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

// Tests the filters of moving triangles one by one. A filter that lets more pairs through changes no usual answer,
// since the search decides them; here the tolerance is so large that the search accepts everything that reaches it.
// Also pins the answers of searches that end at their limit, and tests the allowance for rounding.

namespace motion_crossing_filters_test {

constexpr std::uint32_t kSeed = 271;
constexpr double kEverything = 1e3;  // m  a tolerance above every distance here
constexpr double kGapRounding = 1.6e-14;

using Corners = std::array<MovingPoint, 3>;

dvec3 position_at(const MovingPoint& p, double time) { return p.before + time * (p.after - p.before); }
MovingPoint still(const dvec3& p) { return {p, p}; }

MovingTriangle triangle_of(const Corners& p) {
  return {{p[0].before, p[1].before, p[2].before}, {p[0].after, p[1].after, p[2].after}};
}

// ---- twin of the test for separation throughout the step ----

bool separates(const Corners& p, const Corners& q, const dvec3& direction) {
  bool p_above = true, q_above = true;
  for (const double time : {0.0, 1.0}) {
    for (const MovingPoint& a : p) {
      for (const MovingPoint& b : q) {
        const double height = glm::dot(position_at(a, time) - position_at(b, time), direction);
        p_above = p_above && height > 0.0;
        q_above = q_above && height < 0.0;
      }
    }
  }
  return p_above || q_above;
}

bool separated_at_once(const Corners& p, const Corners& q) {
  std::vector<dvec3> directions{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  std::array<dvec3, 3> a, b;
  dvec3 apart(0.0);
  for (std::size_t k = 0; k < 3; ++k) {
    a[k] = position_at(p[k], 0.5), b[k] = position_at(q[k], 0.5);
    apart += b[k] - a[k];
  }
  const dvec3 normal_a = glm::cross(a[1] - a[0], a[2] - a[0]), normal_b = glm::cross(b[1] - b[0], b[2] - b[0]);
  directions.insert(directions.end(), {apart, normal_a, normal_b});
  for (std::size_t k = 0; k < 3; ++k) {
    const dvec3 side_a = a[(k + 1) % 3] - a[k];
    directions.push_back(glm::cross(side_a, normal_a));
    directions.push_back(glm::cross(b[(k + 1) % 3] - b[k], normal_b));
    for (std::size_t l = 0; l < 3; ++l) directions.push_back(glm::cross(side_a, b[(l + 1) % 3] - b[l]));
  }
  return std::any_of(directions.begin(), directions.end(), [&](const dvec3& d) { return separates(p, q, d); });
}

Corners part_of(const Corners& p, double from, double to) {
  Corners part;
  for (std::size_t k = 0; k < 3; ++k) part[k] = {position_at(p[k], from), position_at(p[k], to)};
  return part;
}

// Throughout the step, or throughout each half, six times.
bool separated(const Corners& p, const Corners& q, int halvings = 6) {
  if (separated_at_once(p, q)) return true;
  return halvings > 0 && separated(part_of(p, 0.0, 0.5), part_of(q, 0.0, 0.5), halvings - 1) &&
         separated(part_of(p, 0.5, 1.0), part_of(q, 0.5, 1.0), halvings - 1);
}

bool any_feature_meets(const Corners& p, const Corners& q) {
  for (std::size_t k = 0; k < 3; ++k) {
    if (corner_meets_face(p[k], q[0], q[1], q[2], kEverything)) return true;
    if (corner_meets_face(q[k], p[0], p[1], p[2], kEverything)) return true;
    for (std::size_t l = 0; l < 3; ++l)
      if (edge_meets_edge(p[k], p[(k + 1) % 3], q[l], q[(l + 1) % 3], kEverything)) return true;
  }
  return false;
}

// Triangles that pass each other closely: separated along an axis of any kind, early, late or throughout, or not.
TEST(MotionCrossingFilters, TrianglesAreSeparatedAsByTheTwin) {
  Dice dice(kSeed);
  int apart = 0, apart_by_halves = 0, together = 0, proofs = 0;
  for (int trial = 0; trial < 6000; ++trial) {
    Corners p, q;
    const double far = dice.uniform(0.0, 1.5);
    const dvec3 drift = far * dice.direction();
    const double aside = dice.uniform(0.0, 1.2);
    const dvec3 start = aside * dice.direction();
    const double bend = trial % 3 ? 0.05 : 0.8, flat = trial % 4 ? 1.0 : 1e-3;
    for (std::size_t k = 0; k < 3; ++k) {
      p[k].before = dice.in_cube(0.6), p[k].after = p[k].before + dice.in_cube(bend);
      q[k].before = start + dice.in_cube(0.6) * dvec3(1, 1, flat),
      q[k].after = q[k].before + drift + dice.in_cube(bend);
    }
    const bool expected = !separated(p, q) && any_feature_meets(p, q);
    ASSERT_EQ(triangles_meet(triangle_of(p), triangle_of(q), kEverything).has_value(), expected) << "trial " << trial;
    ASSERT_EQ(triangles_meet_at_all(triangle_of(p), triangle_of(q), kEverything), expected) << "trial " << trial;
    ASSERT_EQ(one_direction_separates(triangle_of(p), triangle_of(q)), separated_at_once(p, q)) << "trial " << trial;
    const bool proof = newton_finds_a_meeting(triangle_of(p), triangle_of(q));
    ASSERT_TRUE(expected || !proof) << "trial " << trial;
    ++(expected ? together : apart);
    proofs += proof;
    apart_by_halves += separated(p, q) && !separated_at_once(p, q);
  }
  EXPECT_GT(apart, 1000);
  EXPECT_GT(together, 1000);
  EXPECT_GT(apart_by_halves, 50);
  EXPECT_EQ(proofs, 1336) << "Newton's method starts in the middle of the domain and makes eight steps";
}

// Newton's method proves a meeting for each kind of pair of features, at any time of the step.
TEST(MotionCrossingFilters, NewtonFindsMeetings) {
  Dice dice(kSeed + 5);
  int found = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    // The corners of a large triangle stay away; the other one passes through it, or beside it.
    const dvec3 through = dice.in_cube(0.5), direction = dice.direction();
    const double time = dice.uniform(0.05, 0.95);
    Corners p, q;
    for (std::size_t k = 0; k < 3; ++k) {
      p[k].before = dice.in_cube(1.0), p[k].after = p[k].before + dice.in_cube(0.1);
      const dvec3 at = through + dice.in_cube(0.2);
      q[k] = {at - time * direction, at + (1.0 - time) * direction + dice.in_cube(0.05)};
    }
    const bool proof = newton_finds_a_meeting(triangle_of(p), triangle_of(q));
    found += proof;
    if (proof) {
      ASSERT_TRUE(triangles_meet(triangle_of(p), triangle_of(q), 1e-9)) << "trial " << trial;
    }
  }
  EXPECT_EQ(found, 617);
}

// ---- twin of the test whether a gap may be zero ----

// The gap base + u along_u + v along_v at the corners of the domain of time, u and v.
bool excludes_zero(const MovingPoint& base, const MovingPoint& along_u, const MovingPoint& along_v) {
  std::vector<dvec3> values;
  dvec3 sum(0.0);
  for (const double time : {0.0, 1.0})
    for (const double u : {0.0, 1.0})
      for (const double v : {0.0, 1.0}) {
        values.push_back(position_at(base, time) + u * position_at(along_u, time) + v * position_at(along_v, time));
        sum += values.back();
      }
  const dvec3 u = position_at(along_u, 0.5), v = position_at(along_v, 0.5), normal = glm::cross(u, v);
  for (const dvec3& direction :
       {dvec3(1, 0, 0), dvec3(0, 1, 0), dvec3(0, 0, 1), sum, normal, glm::cross(normal, u), glm::cross(normal, v)}) {
    const auto above = [&](const dvec3& value) { return glm::dot(value, direction) > 0.0; };
    const auto below = [&](const dvec3& value) { return glm::dot(value, direction) < 0.0; };
    if (std::all_of(values.begin(), values.end(), above) || std::all_of(values.begin(), values.end(), below))
      return true;
  }
  return false;
}

MovingPoint from_to(const MovingPoint& from, const MovingPoint& to) {
  return {to.before - from.before, to.after - from.after};
}

TEST(MotionCrossingFilters, GapsExcludeZeroAsByTheTwin) {
  Dice dice(kSeed + 1);
  int counts[2][2] = {};
  for (int trial = 0; trial < 20000; ++trial) {
    std::array<MovingPoint, 4> p;
    const dvec3 away = dice.uniform(0.0, 1.5) * dice.direction();
    const double flat = trial % 3 ? 1.0 : 1e-2;
    for (MovingPoint& point : p) {
      point.before = dice.in_cube(0.6) * dvec3(1, 1, flat), point.after = point.before + dice.in_cube(0.2);
    }
    p[0].before += away, p[0].after += away;
    const bool corner = excludes_zero(from_to(p[0], p[1]), from_to(p[1], p[2]), from_to(p[1], p[3]));
    const auto met = corner_meets_face(p[0], p[1], p[2], p[3], kEverything);
    ASSERT_EQ(met.has_value(), !corner) << "trial " << trial;
    ++counts[0][corner];
    p[1].before += away, p[1].after += away;
    const bool edge = excludes_zero(from_to(p[2], p[0]), from_to(p[0], p[1]), from_to(p[3], p[2]));
    const auto crossed = edge_meets_edge(p[0], p[1], p[2], p[3], kEverything);
    ASSERT_EQ(crossed.has_value(), !edge) << "trial " << trial;
    ++counts[1][edge];
    for (const auto& meeting : {met, crossed}) {
      if (!meeting) continue;
      ASSERT_EQ(meeting->time, 0.0);
      ASSERT_EQ(meeting->apart, kEverything);
    }
  }
  for (const auto& of_kind : counts)
    for (const int count : of_kind) EXPECT_GT(count, 500);
}

// ---- rounding ----

dvec3 turned(const dvec3& p, int by) { return by == 0 ? p : by == 1 ? dvec3(p.z, p.x, p.y) : dvec3(p.y, p.z, p.x); }

// A corner that rests above a face by less than the rounding of the largest coordinate meets it.
TEST(MotionCrossingFilters, AllowsForTheRoundingOfTheLargestCoordinate) {
  for (int turn = 0; turn < 3; ++turn) {
    for (const double side : {1.0, -1.0}) {
      for (int far = -1; far < 16; ++far) {
        // One coordinate of one position is 1000 m, in the plane of the face.
        const double largest = far < 0 ? 1.0 : 1000.0;
        for (const auto& [share, meets] : {std::pair{0.95, true}, {1.05, false}}) {
          const double height = side * share * kGapRounding * largest;
          std::array<MovingPoint, 4> p{still({0.2, 0.2, height}), still({0, 0, 0}), still({1, 0, 0}), still({0, 1, 0})};
          if (far >= 0) {
            MovingPoint& point = p[static_cast<std::size_t>(far / 4)];
            // Only motions that keep the corner above the face at the other end of the step.
            (far % 2 ? point.before : point.after)[far / 2 % 2] = far < 8 ? -1000.0 : 1000.0;
          }
          for (MovingPoint& point : p) point = {turned(point.before, turn), turned(point.after, turn)};
          const auto met = corner_meets_face(p[0], p[1], p[2], p[3], 1.0);
          ASSERT_EQ(met.has_value(), meets) << "turn " << turn << ", side " << side << ", far " << far;
        }
      }
    }
  }
}

TEST(MotionCrossingFilters, AllowsForRoundingAlongObliqueNormals) {
  for (const double side : {1.0, -1.0}) {
    for (const auto& [share, meets] : {std::pair{0.95, true}, {1.05, false}}) {
      const dvec3 shift(side * share * kGapRounding);
      const Corners face{still({1, 0, 0}), still({0, 1, 0}), still({0, 0, 1})};
      EXPECT_EQ(corner_meets_face(still(dvec3(0.25, 0.25, 0.5) + shift), face[0], face[1], face[2], 1.0).has_value(),
                meets);
      Corners above = face;
      for (MovingPoint& point : above) point = still(point.before + shift);
      EXPECT_EQ(triangles_meet(triangle_of(face), triangle_of(above), 1.0).has_value(), meets);
      EXPECT_EQ(triangles_meet_at_all(triangle_of(face), triangle_of(above), 1.0), meets);
    }
  }
}

// Triangles at rest, one just above the other, where one corner of one of them is 1000 m away: its rounding counts.
TEST(MotionCrossingFilters, AllowsForTheRoundingOfEachCorner) {
  for (std::size_t far = 0; far < 6; ++far) {
    for (const auto& [share, meets] : {std::pair{0.95, true}, {1.05, false}}) {
      const double height = share * kGapRounding * 1000.0;
      Corners low{still({0, 0, 0}), still({1, 0, 0}), still({0, 1, 0})}, high = low;
      for (MovingPoint& point : high) point = still(point.before + dvec3(0.0, 0.0, height));
      MovingPoint& moved = far < 3 ? low[far] : high[far - 3];
      moved = still(dvec3(far % 3 == 1 ? 1000.0 : -1000.0, far % 3 == 2 ? 900.0 : -900.0, moved.before.z));
      EXPECT_EQ(triangles_meet(triangle_of(low), triangle_of(high), 1.0).has_value(), meets) << "corner " << far;
      EXPECT_EQ(triangles_meet_at_all(triangle_of(low), triangle_of(high), 1.0), meets) << "corner " << far;
    }
  }
}

// ---- answers of searches, pinned: IEEE arithmetic gives the same on every machine ----

struct Sums {
  int meetings = 0;
  double time = 0.0, apart = 0.0;

  void add(const std::optional<Meeting>& met) {
    if (!met) return;
    ++meetings;
    time += met->time;
    apart += met->apart;
  }
};

std::array<MovingPoint, 4> random_points(Dice& dice, double flatness) {
  std::array<MovingPoint, 4> p;
  for (MovingPoint& point : p) {
    point.before = dice.in_cube(0.5) * dvec3(1, 1, flatness);
    point.after = dice.in_cube(0.5) * dvec3(1, 1, flatness);
    for (dvec3* at : {&point.before, &point.after}) *at = {at->x, at->y - at->x, at->z + at->x + 2.0 * at->y};
  }
  return p;
}

struct Pinned {
  double flatness, tolerance;
  int trials;
  Sums corners, edges;
};

void expect_sums(const Sums& sums, const Sums& expected) {
  EXPECT_EQ(sums.meetings, expected.meetings);
  EXPECT_NEAR(sums.time, expected.time, 1e-10 * expected.time);
  EXPECT_NEAR(sums.apart, expected.apart, 1e-8 * expected.apart);
}

TEST(MotionCrossingFilters, SearchesGiveThePinnedMeetings) {
  const Pinned pinned[] = {
      {1.0, 0.05, 2000, {175, 88.505859375, 8.75}, {441, 221.732421875, 22.05}},
      {1.0, 1e-6, 500, {47, 23.2753887177, 4.7e-05}, {123, 58.2759450078, 0.000123}},
      {1.0, 0.0, 300, {29, 14.0168462903, 9.87728533713e-13}, {76, 36.1526790932, 2.63581083297e-12}},
      {0.0, 0.0, 12, {8, 4.24335229788, 2.27188745434e-13}, {10, 4.14142902519, 2.95730471056e-13}},
      {1e-11, 1e-9, 40, {5, 2.09756742552, 5e-09}, {12, 6.64817477297, 1.2e-08}},
      {0.0, 1e-9, 40, {23, 9.81116698333, 2.3e-08}, {27, 9.85392698803, 2.7e-08}},  // within one oblique plane
  };
  for (const Pinned& expected : pinned) {
    SCOPED_TRACE(testing::Message() << "flatness " << expected.flatness << ", tolerance " << expected.tolerance);
    Dice dice(kSeed + 2);
    Sums corners, edges;
    for (int trial = 0; trial < expected.trials; ++trial) {
      const auto p = random_points(dice, expected.flatness);
      corners.add(corner_meets_face(p[0], p[1], p[2], p[3], expected.tolerance));
      edges.add(edge_meets_edge(p[0], p[1], p[2], p[3], expected.tolerance));
    }
    expect_sums(corners, expected.corners);
    expect_sums(edges, expected.edges);
  }
}

}  // namespace motion_crossing_filters_test

// Tests the meetings of two moving meshes against all pairs of faces, and on cases with a known first contact.

struct Moved {
  TriangleMesh mesh;
  std::vector<glm::vec3> after;

  MovingMesh motion() const { return {mesh.positions, after, mesh.faces}; }
};

Moved moved(TriangleMesh mesh, const glm::vec3& by) {
  Moved result{std::move(mesh), {}};
  for (const glm::vec3& p : result.mesh.positions) result.after.push_back(p + by);
  return result;
}

TEST(MeshesMeet, TwoCubesMeetWhenTheirSidesDo) {
  // The gap between their sides is 0.04 m, and the first moves by 0.1 m.
  const Moved left = moved(shapes::cube(0.1f, {-0.07f, 0.f, 0.f}), {0.1f, 0.f, 0.f});
  const Moved right = moved(shapes::cube(0.1f, {0.07f, 0.01f, 0.013f}), glm::vec3(0.f));
  const auto meetings = meshes_meet(left.motion(), right.motion());
  const auto contact = first_contact(meetings);
  ASSERT_TRUE(contact);
  EXPECT_LE(contact->time, 0.4 + 1e-6);
  EXPECT_GT(contact->time, 0.4 - 1e-4);
  EXPECT_LE(contact->apart, 1e-6);
  EXPECT_TRUE(meshes_meet(right.motion(), right.motion()).size() > 0) << "equal meshes touch at the start";
}

TEST(MeshesMeet, WhatCrossesAtTheStartMeetsAtTimeZero) {
  const Moved a = moved(shapes::icosphere(2, 0.05f), glm::vec3(0.f));
  const Moved b = moved(shapes::icosphere(2, 0.05f, {0.04f, 0.f, 0.f}), {0.001f, 0.f, 0.f});
  const auto meetings = meshes_meet(a.motion(), b.motion());
  ASSERT_FALSE(meetings.empty());
  EXPECT_EQ(first_contact(meetings)->time, 0.0);
}

TEST(MeshesMeet, MeshesThatPassAtADistanceOrAreEmptyDoNotMeet) {
  const Moved a = moved(shapes::cube(0.1f), {0.3f, 0.f, 0.f});
  const Moved b = moved(shapes::cube(0.1f, {0.15f, 0.1003f, 0.f}), glm::vec3(0.f));
  EXPECT_TRUE(meshes_meet(a.motion(), b.motion()).empty());
  EXPECT_TRUE(meshes_meet(a.motion(), {}).empty());
  EXPECT_FALSE(first_contact({}));
}

// The same pairs as a test of all pairs, for meshes that deform at random.
TEST(MeshesMeet, FindsThePairsOfAllPairs) {
  for (const std::uint32_t seed : {1u, 2u, 3u, 4u}) {
    std::mt19937 random(seed);
    const auto number = [&](float most) { return most * (2.f * static_cast<float>(random() >> 8) / 16777216.f - 1.f); };
    const auto deformed = [&](TriangleMesh mesh, const glm::vec3& by) {
      Moved result = moved(std::move(mesh), by);
      for (glm::vec3& p : result.after)
        for (int axis = 0; axis < 3; ++axis) p[axis] += number(0.01f);
      return result;
    };
    const Moved a = deformed(shapes::icosphere(2, 0.05f), {0.03f, 0.f, 0.f});
    const Moved b = deformed(shapes::random_soup(seed, 200, 0.2f, 0.03f), {-0.01f, 0.005f, 0.f});
    const auto meetings = meshes_meet(a.motion(), b.motion());
    std::size_t next = 0, at_start = 0;
    for (std::uint32_t f = 0; f < a.mesh.faces.size(); ++f)
      for (std::uint32_t g = 0; g < b.mesh.faces.size(); ++g) {
        glm::vec3 first[3], second[3];
        for (int k = 0; k < 3; ++k) {
          first[k] = a.mesh.positions[a.mesh.faces[f][k]];
          second[k] = b.mesh.positions[b.mesh.faces[g][k]];
        }
        const bool crosses = solids::faces_cross_exactly(first, second);
        const auto meeting = triangles_meet(
            {triangle_of(a.mesh.positions, a.mesh.faces[f]), triangle_of(a.after, a.mesh.faces[f])},
            {triangle_of(b.mesh.positions, b.mesh.faces[g]), triangle_of(b.after, b.mesh.faces[g])}, 1e-6);
        if (!crosses && !meeting) continue;
        ASSERT_LT(next, meetings.size()) << "seed " << seed << ": pair " << f << ", " << g << " is missing";
        EXPECT_EQ(meetings[next].first, FaceId(f));
        EXPECT_EQ(meetings[next].second, FaceId(g));
        EXPECT_EQ(meetings[next].time, crosses ? 0.0 : meeting->time);
        at_start += crosses ? 1 : 0;
        ++next;
      }
    EXPECT_EQ(next, meetings.size());
    EXPECT_GT(next, at_start + 10) << "seed " << seed << ": the case must have meetings during the motion";
  }
}

}  // namespace
}  // namespace trocar
