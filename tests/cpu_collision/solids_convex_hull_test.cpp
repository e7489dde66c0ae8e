// Tests that the hull's surface is exactly closed and convex, contains every point, and has Qhull's volume.
#include <gtest/gtest.h>
#include <libqhull_r/qhull_ra.h>

#include <array>
#include <cmath>
#include <iostream>
#include <limits>
#include <random>

#include "cpu_collision/solids/convex_body.hpp"
#include "geometry/error.hpp"
#include "mesh/exact_sign.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar::solids {
namespace {

using glm::dvec3;
using glm::vec3;

// Expects, by exact signs, that the hull is closed and convex, that every edge lies between two faces, and that the
// hull contains the points.
void expect_exact_hull(const std::vector<vec3>& points, const ConvexBody& body) {
  ASSERT_GE(body.dimension, 2);
  EXPECT_EQ(body.vertices.size() + body.faces.size(), body.edges.size() + 2);
  for (std::uint32_t e = 0; e < body.edges.size(); ++e) {
    for (const std::uint32_t f : body.edges[e].face) {
      ASSERT_LT(f, body.faces.size());
      const auto& edges = body.faces[f].edge;
      EXPECT_NE(std::find(edges, edges + 3, e), edges + 3);
    }
  }
  for (const ConvexBody::Face& f : body.faces) {
    const vec3 a(body.vertices[f.vertex[0]]), b(body.vertices[f.vertex[1]]), c(body.vertices[f.vertex[2]]);
    EXPECT_GE(projection_axis(a, b, c), 0);
    for (const vec3& p : points) ASSERT_GE(exact_orientation(a, b, c, p), 0);
  }
  std::size_t incident_edges = 0;
  for (std::uint32_t v = 0; v < body.vertices.size(); ++v) {
    for (const std::uint32_t e : body.incident_edges_of(v)) {
      EXPECT_TRUE(body.edges[e].vertex[0] == v || body.edges[e].vertex[1] == v);
      ++incident_edges;
    }
    EXPECT_LE(glm::distance(body.vertices[v], body.centre), body.radius);
  }
  EXPECT_EQ(incident_edges, 2 * body.edges.size());
}

double qhull_volume(const std::vector<vec3>& points) {
  std::vector<double> flat;
  for (const vec3& p : points) flat.insert(flat.end(), {p.x, p.y, p.z});
  qhT state;
  qhT* qh = &state;
  qh_zero(qh, stderr);
  char options[] = "qhull Qt FA";
  EXPECT_EQ(qh_new_qhull(qh, 3, static_cast<int>(points.size()), flat.data(), False, options, nullptr, stderr), 0);
  qh_getarea(qh, qh->facet_list);
  const double volume = qh->totvol;
  qh_freeqhull(qh, qh_ALL);
  int kept = 0, total = 0;
  qh_memfreeshort(qh, &kept, &total);
  return volume;
}

TEST(ConvexHull, RandomClouds) {
  const std::uint32_t seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  test::Dice dice(seed);
  for (int round = 0; round < 150; ++round) {
    std::vector<vec3> points(4 + dice.pick(200));
    const bool ball = dice.pick(2);
    const double flatness = dice.log_uniform(1e-4, 1.0);
    for (vec3& p : points)
      p = vec3((ball ? dice.direction() : dice.in_cube(1.0)) * glm::dvec3(0.1, 0.1, 0.1 * flatness));
    const ConvexBody body = convex_hull(points);
    ASSERT_EQ(body.dimension, 3);
    expect_exact_hull(points, body);
    EXPECT_NEAR(body.volume(), qhull_volume(points), 1e-9 * body.volume());
  }
}

// Tests integer coordinates, with many coplanar, collinear and repeated points.
TEST(ConvexHull, PointsOfAGrid) {
  const std::uint32_t seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  test::Dice dice(seed);
  int flat = 0;
  for (int round = 0; round < 1000; ++round) {
    std::vector<vec3> points(4 + dice.pick(60));
    const int width = 2 + dice.pick(4), height = 1 + dice.pick(4);
    for (vec3& p : points) p = vec3(dice.pick(width), dice.pick(width), dice.pick(height));
    const ConvexBody body = convex_hull(points);
    if (body.dimension < 2) continue;
    expect_exact_hull(points, body);
    flat += body.dimension == 2;
    if (body.dimension == 3) {
      EXPECT_NEAR(body.volume(), qhull_volume(points), 1e-12 * body.volume());
      for (const ConvexBody::Edge& e : body.edges) {
        const glm::dvec3 m = body.faces[e.face[0]].normal, n = body.faces[e.face[1]].normal;
        EXPECT_EQ(e.flat, glm::dot(m, n) > 1.0 - 1e-9);
      }
    }
  }
  EXPECT_GT(flat, 50);
}

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
