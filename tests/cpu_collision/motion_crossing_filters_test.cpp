// Tests the filters of moving triangles one by one. A filter that lets more pairs through changes no usual answer,
// since the search decides them; here the tolerance is so large that the search accepts everything that reaches it.
// Also pins the answers of searches that end at their limit, and tests the allowance for rounding.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "cpu_collision/trees/motion_crossing.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using test::Dice;

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

}  // namespace
}  // namespace trocar
