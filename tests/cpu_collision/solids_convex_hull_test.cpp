// Tests that the hull's surface is exactly closed and convex, and contains every point.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "cpu_collision/solids/convex_body.hpp"
#include "geometry/error.hpp"
#include "tests/cpu_collision/exact_hull.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar::solids {
namespace {

using glm::dvec3;
using glm::vec3;

TEST(ConvexHull, FlatLineAndPoint) {
  const ConvexBody square =
      convex_hull(std::vector<vec3>{{0, 0, 1}, {2, 0, 1}, {2, 2, 1}, {0, 2, 1}, {1, 1, 1}, {1, 0, 1}});
  EXPECT_EQ(square.dimension, 2);
  EXPECT_EQ(square.vertices.size(), 4u);
  EXPECT_EQ(square.faces.size(), 4u);
  EXPECT_EQ(square.volume(), 0.0);
  expect_exact_hull({{0, 0, 1}, {2, 2, 1}}, square);
  const ConvexBody line = convex_hull(std::vector<vec3>{{0, 0, 0}, {3, 3, 3}, {1, 1, 1}, {-2, -2, -2}});
  EXPECT_EQ(line.dimension, 1);
  ASSERT_EQ(line.vertices.size(), 2u);
  EXPECT_EQ(line.edges.size(), 1u);
  EXPECT_NEAR(line.radius, 2.5 * std::sqrt(3.0), 1e-12);
  const ConvexBody point = convex_hull(std::vector<vec3>{{1, 2, 3}, {1, 2, 3}});
  EXPECT_EQ(point.dimension, 0);
  EXPECT_EQ(point.vertices.size(), 1u);
  EXPECT_EQ(point.radius, 0.0);
}

// Edges of nearly collinear points: the removed points lie within a micrometre of the hull, and no thin face remains.
TEST(ConvexHull, TidyHullHasNoThinFaces) {
  test::Dice dice(4);
  for (int round = 0; round < 50; ++round) {
    std::vector<vec3> points;
    const dvec3 a = dice.in_cube(0.05), b = dice.in_cube(0.05), c = dice.in_cube(0.05), d = dice.in_cube(0.05);
    for (int i = 0; i <= 20; ++i) {
      for (const dvec3& p : {glm::mix(a, b, i / 20.0), glm::mix(b, c, i / 20.0), glm::mix(c, d, i / 20.0)}) {
        points.emplace_back(p);
      }
    }
    const ConvexBody body = tidy_hull(points, 1e-7);
    for (std::uint32_t f = 0; f < body.faces.size(); ++f) {
      const Triangle t = body.corners(f);
      const double longest = std::max({glm::distance(t.a, t.b), glm::distance(t.b, t.c), glm::distance(t.c, t.a)});
      EXPECT_GE(glm::length(glm::cross(t.b - t.a, t.c - t.a)), 1e-7 * longest);
    }
    std::uint32_t face = 0;
    for (const vec3& p : points) EXPECT_LE(height_above(body, dvec3(p), face), 1e-6);
  }
}

TEST(ConvexHull, BadInputIsRejected) {
  EXPECT_THROW(convex_hull({}), InputError);
  EXPECT_THROW(convex_hull(std::vector<vec3>{{0, 0, std::numeric_limits<float>::quiet_NaN()}}), InputError);
}

// The ends of collinear points in every direction of a grid, in any order.
TEST(ConvexHull, LinesInEveryDirection) {
  for (int k = 0; k < 27; ++k) {
    const vec3 along(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1), from(0.25f, -0.5f, 2.f);
    if (along == vec3(0.f)) continue;
    for (const std::array<float, 4>& order :
         {std::array{0.f, 3.f, 1.f, -2.f}, std::array{3.f, -2.f, 1.f, 0.f}, std::array{-2.f, 1.f, 3.f, 0.f}}) {
      std::vector<vec3> points;
      for (const float t : order) points.push_back(from + t * along);
      const ConvexBody line = convex_hull(points);
      ASSERT_EQ(line.dimension, 1) << k;
      ASSERT_EQ(line.vertices.size(), 2u) << k;
      const dvec3 low(from - 2.f * along), high(from + 3.f * along);
      EXPECT_TRUE((line.vertices[0] == low && line.vertices[1] == high) ||
                  (line.vertices[0] == high && line.vertices[1] == low))
          << k;
      EXPECT_EQ(line.volume(), 0.0);
      EXPECT_TRUE(line.faces.empty());
    }
  }
}

}  // namespace
}  // namespace trocar::solids
