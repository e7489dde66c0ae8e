// Tests the exact test on integers and named cases. Compares the area and angle tests with it: how often they differ,
// and up to which gap rounding and tolerance matter.
#include "study/solids/edge_triangle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <random>

#include "mesh/exact_sign.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/geometry/slow_distance.hpp"

namespace trocar::solids {
namespace {

using glm::vec3;
using test::Dice;

constexpr FloatTriangle kUnit{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}};

struct Named {
  const char* what;
  vec3 from, to;
  EdgeContact exact;
  EdgeVerdict rounded;
};

constexpr Named kCases[] = {
    {"through the inside", {1, 1, -1}, {1, 1, 1}, EdgeContact::Crosses, EdgeVerdict::Meets},
    {"through a side", {2, 0, -1}, {2, 0, 1}, EdgeContact::Border, EdgeVerdict::Meets},
    {"through a corner", {4, 0, -1}, {4, 0, 1}, EdgeContact::Border, EdgeVerdict::Meets},
    {"beside a corner", {5, 0, -1}, {5, 0, 1}, EdgeContact::Apart, EdgeVerdict::Apart},
    {"in line with a side, beyond it", {-1, 0, -1}, {-1, 0, 1}, EdgeContact::Apart, EdgeVerdict::Apart},
    {"ends on the inside", {1, 1, 0}, {1, 1, 1}, EdgeContact::EndOn, EdgeVerdict::Meets},
    {"ends on a corner", {0, 0, 0}, {-1, -1, 1}, EdgeContact::EndOn, EdgeVerdict::Meets},
    {"ends in the plane beside it", {5, 5, 0}, {5, 5, 1}, EdgeContact::Apart, EdgeVerdict::Apart},
    {"stops above", {1, 1, 1}, {1, 1, 2}, EdgeContact::Apart, EdgeVerdict::Apart},
    {"parallel above", {0, 0, 1}, {4, 4, 1}, EdgeContact::Apart, EdgeVerdict::Apart},
    {"in the plane, inside", {1, 1, 0}, {1.5f, 1, 0}, EdgeContact::InPlane, EdgeVerdict::InPlane},
    {"in the plane, across", {-1, 1, 0}, {9, 1, 0}, EdgeContact::InPlane, EdgeVerdict::InPlane},
    {"in the plane, along a side", {-1, 0, 0}, {9, 0, 0}, EdgeContact::InPlane, EdgeVerdict::InPlane},
    {"in the plane, touching a corner", {4, -1, 0}, {4, 1, 0}, EdgeContact::InPlane, EdgeVerdict::InPlane},
    {"in the plane, in line with a side, beyond", {5, 0, 0}, {9, 0, 0}, EdgeContact::Apart, EdgeVerdict::Apart},
    {"in the plane, beside", {3, 3, 0}, {9, 9, 0}, EdgeContact::Apart, EdgeVerdict::Apart},
    {"a point on the inside", {1, 1, 0}, {1, 1, 0}, EdgeContact::InPlane, EdgeVerdict::InPlane},
    {"a point beside", {5, 1, 0}, {5, 1, 0}, EdgeContact::Apart, EdgeVerdict::Apart},
    {"a point above", {1, 1, 1}, {1, 1, 1}, EdgeContact::Apart, EdgeVerdict::Apart},
};

Triangle in_double(const FloatTriangle& t) { return {glm::dvec3(t.a), glm::dvec3(t.b), glm::dvec3(t.c)}; }

TEST(EdgeTriangle, NamedCases) {
  const FloatTriangle turned{kUnit.b, kUnit.a, kUnit.c};
  for (const Named& c : kCases) {
    for (const FloatTriangle& t : {kUnit, turned}) {
      EXPECT_EQ(exact_edge_contact(c.from, c.to, t), c.exact) << c.what;
      EXPECT_EQ(exact_edge_contact(c.to, c.from, t), c.exact) << c.what;
      for (const double scale : {1e-4, 1.0, 1e3}) {
        const Triangle s{scale * in_double(t).a, scale * in_double(t).b, scale * in_double(t).c};
        const glm::dvec3 p = scale * glm::dvec3(c.from), q = scale * glm::dvec3(c.to);
        EXPECT_EQ(edge_triangle_by_area(p, q, s), c.rounded) << c.what << " x " << scale;
        EXPECT_EQ(edge_triangle_by_angle(p, q, s), c.rounded) << c.what << " x " << scale;
      }
    }
  }
}

TEST(EdgeTriangle, TrianglesWithoutArea) {
  const FloatTriangle line{{0, 0, 0}, {4, 4, 4}, {2, 2, 2}}, point{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
  EXPECT_EQ(exact_edge_contact({0, 0, 2}, {2, 2, 0}, line), EdgeContact::InPlane);
  EXPECT_EQ(exact_edge_contact({3, 3, 3}, {9, 9, 9}, line), EdgeContact::InPlane);
  EXPECT_EQ(exact_edge_contact({5, 5, 5}, {9, 9, 9}, line), EdgeContact::Apart);
  EXPECT_EQ(exact_edge_contact({0, 0, 1}, {2, 2, 2.5f}, line), EdgeContact::Apart);
  EXPECT_EQ(exact_edge_contact({0, 0, 0}, {3, 3, 3}, point), EdgeContact::InPlane);
  EXPECT_EQ(exact_edge_contact({0, 0, 0}, {3, 3, 3.5f}, point), EdgeContact::Apart);
  EXPECT_TRUE(exactly_on({3, 3, 3}, line));
  EXPECT_FALSE(exactly_on({3, 3, 3.5f}, line));
  EXPECT_FALSE(exactly_on({5, 5, 5}, line));
  EXPECT_EQ(edge_triangle_by_area({0, 0, 2}, {2, 2, 0}, in_double(line)), EdgeVerdict::Apart);
  EXPECT_EQ(edge_triangle_by_angle({0, 0, 2}, {2, 2, 0}, in_double(point)), EdgeVerdict::Apart);
}

struct Tally {
  int cases = 0, meets = 0, area_differs = 0, angle_differs = 0;
  double area_band = 0.0, angle_band = 0.0;  // farthest gap, as a share of the longest side, at which they differ
};

// Returns the gap of a pair that does not meet, as a share of the longest side.
double gap_of(const vec3& p, const vec3& q, const FloatTriangle& t) {
  const Triangle s = in_double(t);
  const double longest = std::max({glm::distance(s.a, s.b), glm::distance(s.b, s.c), glm::distance(s.c, s.a)});
  return test::slow_segment_triangle(glm::dvec3(p), glm::dvec3(q), s) / longest;
}

void count(const vec3& p, const vec3& q, const FloatTriangle& t, Tally& tally) {
  const bool exact = exact_edge_contact(p, q, t) != EdgeContact::Apart;
  const bool area = edge_triangle_by_area(glm::dvec3(p), glm::dvec3(q), in_double(t)) != EdgeVerdict::Apart;
  const bool angle = edge_triangle_by_angle(glm::dvec3(p), glm::dvec3(q), in_double(t)) != EdgeVerdict::Apart;
  ++tally.cases;
  tally.meets += exact;
  if (area != exact) ++tally.area_differs, tally.area_band = std::max(tally.area_band, gap_of(p, q, t));
  if (angle != exact) ++tally.angle_differs, tally.angle_band = std::max(tally.angle_band, gap_of(p, q, t));
}

void print(const char* what, const Tally& t) {
  std::cout << what << ": " << t.cases << " cases, " << t.meets << " meet; area differs " << t.area_differs
            << " times, gap at most " << t.area_band << " of the longest side; angle differs " << t.angle_differs
            << " times, gap at most " << t.angle_band << "\n";
}

class EdgeTriangleRandom : public testing::Test {
 protected:
  EdgeTriangleRandom() : seed_(std::random_device{}()), dice_(seed_) { std::cout << "seed " << seed_ << "\n"; }
  vec3 point(float side) { return vec3(dice_.in_cube(side)); }

  std::uint32_t seed_;
  Dice dice_;
};

TEST_F(EdgeTriangleRandom, OrdinaryInputNeverDiffers) {
  Tally tally;
  for (int i = 0; i < 300000; ++i) count(point(0.1f), point(0.1f), {point(0.1f), point(0.1f), point(0.1f)}, tally);
  print("random", tally);
  EXPECT_LE(tally.area_band, 1e-8);
  EXPECT_LE(tally.angle_band, 1e-8);
  EXPECT_LE(tally.area_differs + tally.angle_differs, 3);
}

// Tests three-bit integers, where most cases touch, or are parallel, collinear or without area. Triangles without area
// are omitted, because the rounded tests never meet them.
TEST_F(EdgeTriangleRandom, WholeNumbersNeverDiffer) {
  Tally tally;
  const auto whole = [&] { return vec3(dice_.pick(8), dice_.pick(8), dice_.pick(8)); };
  while (tally.cases < 300000) {
    const FloatTriangle t{whole(), whole(), whole()};
    if (glm::cross(t.b - t.a, t.c - t.a) == vec3(0)) continue;
    count(whole(), whole(), t, tally);
  }
  print("whole numbers", tally);
  EXPECT_EQ(tally.area_differs, 0);
  EXPECT_EQ(tally.angle_differs, 0);
}

// Tests edges that aim at the border or end on the plane, rounded to float: the last digit decides their side.
TEST_F(EdgeTriangleRandom, NearTheBorderOnlyTheBandDiffers) {
  Tally tally;
  for (int i = 0; i < 300000; ++i) {
    const FloatTriangle t{point(0.1f), point(0.1f), point(0.1f)};
    const glm::dvec3 a(t.a), b(t.b), c(t.c);
    glm::dvec3 target = glm::mix(a, b, dice_.uniform(0.0, 1.0));
    if (i % 3 == 1) target = glm::mix(target, c, dice_.uniform(0.0, 1.0));
    const glm::dvec3 d = dice_.in_cube(0.1);
    const vec3 from(target + d), to(i % 3 == 1 ? target : target - d);
    count(from, to, t, tally);
  }
  print("aimed at the border", tally);
  EXPECT_GT(tally.meets, 50000);
  EXPECT_LE(tally.area_band, 1e-6);
  EXPECT_LE(tally.angle_band, 1e-6);
}

}  // namespace
}  // namespace trocar::solids
