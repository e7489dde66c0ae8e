// Triangulates loops: convex, concave, with holes, touching and degenerate. The triangles close every loop, and for
// proper loops they have the area of the region and none is turned over.
#include "deform/cut/boundary_loops.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>

namespace trocar {
namespace {

struct Shape {
  Loops loops;
  std::vector<glm::dvec2> points;

  void add(std::initializer_list<glm::dvec2> loop) { add(std::vector<glm::dvec2>(loop)); }
  void add(const std::vector<glm::dvec2>& loop) {
    for (const glm::dvec2& p : loop) {
      loops.vertex.push_back(static_cast<std::uint32_t>(points.size()));
      points.push_back(p);
    }
    loops.close();
  }
};

double area_of(const Shape& shape, const glm::uvec3& t) {
  const glm::dvec2 a = shape.points[t.y] - shape.points[t.x], b = shape.points[t.z] - shape.points[t.x];
  return 0.5 * (a.x * b.y - a.y * b.x);
}

// Checks that the triangles have each directed edge of the loops once more than its opposite, and no other edge.
void expect_closed(const Shape& shape, const std::vector<glm::uvec3>& triangles) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> net;
  const auto add = [&](std::uint32_t u, std::uint32_t v, int sign) { net[std::minmax(u, v)] += u < v ? sign : -sign; };
  for (const glm::uvec3& t : triangles)
    for (int i = 0; i < 3; ++i) {
      ASSERT_NE(t[i], t[(i + 1) % 3]);
      add(t[i], t[(i + 1) % 3], 1);
    }
  for (std::size_t k = 0; k < shape.loops.count(); ++k) {
    const auto loop = shape.loops.loop(k);
    for (std::size_t i = 0; i < loop.size(); ++i) add(loop[i], loop[(i + 1) % loop.size()], -1);
  }
  for (const auto& [edge, sum] : net) ASSERT_EQ(sum, 0) << edge.first << " " << edge.second;
}

// Returns the sum of the areas; every triangle must be at least this large.
double filled(const Shape& shape, double smallest = 0.0) {
  const std::vector<glm::uvec3> triangles = fill_loops(shape.loops, shape.points);
  expect_closed(shape, triangles);
  double sum = 0.0;
  for (const glm::uvec3& t : triangles) {
    EXPECT_GT(area_of(shape, t), smallest);
    sum += area_of(shape, t);
  }
  return sum;
}

TEST(PolygonFill, ConvexConcaveAndCollinear) {
  Shape square;
  square.add({{0, 0}, {0.5, 0}, {1, 0}, {1, 1}, {0, 1}});
  EXPECT_NEAR(filled(square), 1.0, 1e-12);
  Shape bracket;
  bracket.add({{0, 0}, {3, 0}, {3, 1}, {1, 1}, {1, 2}, {3, 2}, {3, 3}, {0, 3}});
  EXPECT_NEAR(filled(bracket), 7.0, 1e-12);
  Shape sides;
  sides.add({{0, 0}, {1, 0}, {2, 0}, {2, 1}, {2, 2}, {1, 1}});
  EXPECT_NEAR(filled(sides), 2.0, 1e-12);
}

TEST(PolygonFill, HolesAndSeveralOuterLoops) {
  Shape ring;
  ring.add({{0, 0}, {4, 0}, {4, 4}, {0, 4}});
  ring.add({{1, 1}, {1, 2}, {2, 2}, {2, 1}});
  ring.add({{2.5, 2.5}, {2.5, 3}, {3, 3}, {3, 2.5}});
  ring.add({{6, 0}, {7, 0}, {7, 1}});
  EXPECT_NEAR(filled(ring), 16.0 - 1.0 - 0.25 + 0.5, 1e-12);
}

// The sides of a closed slit coincide.
TEST(PolygonFill, NotchWithoutWidth) {
  Shape notch;
  notch.add({{0, 0}, {1, 0}, {1, 0.5}, {1, 0}, {2, 0}, {2, 1}, {0, 1}});
  EXPECT_NEAR(filled(notch), 2.0, 1e-12);
  Shape divided;
  divided.add({{0, 0}, {1, 0}, {1, 1}, {0, 1}});
  divided.add({{1, 0}, {2, 0}, {2, 1}, {1, 1}});
  EXPECT_NEAR(filled(divided), 2.0, 1e-12);
}

TEST(PolygonFill, StarsOfRandomRadius) {
  constexpr std::uint32_t kSeed = 7;
  std::printf("seed %u\n", kSeed);
  std::mt19937 random(kSeed);
  const auto uniform = [&] { return static_cast<double>(random() >> 8) / 16777216.0; };
  for (int round = 0; round < 50; ++round) {
    const int n = 3 + static_cast<int>(random() % 60);
    std::vector<glm::dvec2> loop;
    double area = 0.0;
    for (int i = 0; i < n; ++i) {
      const double angle = 2.0 * 3.14159265358979 * i / n, radius = 0.2 + uniform();
      loop.push_back({radius * std::cos(angle), radius * std::sin(angle)});
    }
    for (int i = 0; i < n; ++i) {
      const glm::dvec2 &a = loop[static_cast<std::size_t>(i)], &b = loop[static_cast<std::size_t>((i + 1) % n)];
      area += 0.5 * (a.x * b.y - a.y * b.x);
    }
    Shape star;
    star.add(loop);
    EXPECT_NEAR(filled(star), area, 1e-9);
  }
}

// Whatever the loops are, the triangles close them.
TEST(PolygonFill, InvalidLoopsAreClosed) {
  constexpr std::uint32_t kSeed = 8;
  std::printf("seed %u\n", kSeed);
  std::mt19937 random(kSeed);
  for (int round = 0; round < 100; ++round) {
    Shape shape;
    for (std::size_t k = 0, loops = 1 + random() % 4; k < loops; ++k) {
      std::vector<glm::dvec2> loop;
      for (std::size_t i = 0, n = 3 + random() % 12; i < n; ++i)
        loop.push_back({static_cast<double>(random() % 5), round % 5 == 0 ? 0.0 : static_cast<double>(random() % 5)});
      shape.add(loop);
    }
    expect_closed(shape, fill_loops(shape.loops, shape.points));
  }
  EXPECT_TRUE(fill_loops(Loops{}, {}).empty());
}

}  // namespace
}  // namespace trocar
