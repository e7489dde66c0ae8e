// Tests the decomposition of boundaries into loops, the strips and caps that close loops, and the triangles that fill
// loops in a plane.
#include "deform/cut/boundary_loops.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>

#include "tests/deform/sculpt_support.hpp"

namespace trocar {
namespace {

std::vector<RimEdge> rim_of(std::span<const glm::uvec3> faces) {
  std::vector<RimEdge> rim, edges;
  for (const glm::uvec3& face : faces) add_edges(face, 1, edges);
  update_rim(rim, edges);
  return rim;
}

TEST(SculptLoft, LoopsEqualTheBoundary) {
  constexpr std::uint32_t kSeed = 21;
  std::printf("seed %u\n", kSeed);
  std::mt19937 random(kSeed);
  for (int round = 0; round < 300; ++round) {
    std::vector<glm::uvec3> faces;
    for (std::uint32_t i = random() % 60; i > 0; --i) {
      const std::uint32_t a = random() % 12, b = random() % 12, c = random() % 12;
      if (a != b && b != c && c != a) faces.push_back({a, b, c});
    }
    const std::vector<RimEdge> rim = rim_of(faces);
    const Loops loops = find_loops(rim);
    std::vector<RimEdge> left = rim, walked;
    for (std::size_t k = 0; k < loops.count(); ++k) {
      const auto loop = loops.loop(k);
      ASSERT_GE(loop.size(), 3u);
      std::vector<std::uint32_t> sorted(loop.begin(), loop.end());
      std::sort(sorted.begin(), sorted.end());
      ASSERT_TRUE(std::unique(sorted.begin(), sorted.end()) == sorted.end());
      for (std::size_t i = 0; i < loop.size(); ++i) {
        const std::uint32_t u = loop[i], v = loop[(i + 1) % loop.size()];
        walked.push_back(u < v ? RimEdge{u, v, -1} : RimEdge{v, u, 1});
      }
    }
    update_rim(left, walked);
    ASSERT_TRUE(left.empty());
  }
}

TEST(SculptLoft, BoundaryFollowsAddedAndRemovedFaces) {
  const TriangleMesh ball = shapes::icosphere(2);
  std::vector<RimEdge> rim, edges;
  for (std::size_t f = 0; f < ball.faces.size(); f += 3) add_edges(ball.faces[f], -1, edges);
  update_rim(rim, edges);
  std::vector<glm::uvec3> kept;
  for (std::size_t f = 0; f < ball.faces.size(); ++f)
    if (f % 3 != 0) kept.push_back(ball.faces[f]);
  const std::vector<RimEdge> rebuilt = rim_of(kept);
  ASSERT_EQ(rim.size(), rebuilt.size());
  for (std::size_t i = 0; i < rim.size(); ++i)
    EXPECT_TRUE(rim[i].u == rebuilt[i].u && rim[i].v == rebuilt[i].v && rim[i].net == rebuilt[i].net);
}

// Two rings with different counts: a strip has one triangle per edge, and the area of the annulus.
TEST(SculptLoft, StripBetweenCircles) {
  std::vector<glm::vec3> positions;
  Loops loops;
  const auto add_ring = [&](int count, float radius, float turn) {
    for (int i = 0; i < count; ++i) {
      const float a = turn * 6.2831853f * static_cast<float>(i) / static_cast<float>(count) + 0.3f;
      loops.vertex.push_back(static_cast<std::uint32_t>(positions.size()));
      positions.push_back({radius * std::cos(a), radius * std::sin(a), 0.f});
    }
    loops.close();
  };
  add_ring(70, 0.012f, 1.f);
  add_ring(43, 0.010f, -1.f);
  const std::vector<glm::uvec3> strip = close_loops(positions, loops, {0, 1}, 0.005f);
  ASSERT_EQ(strip.size(), 70u + 43u);
  double area = 0.0;
  for (const glm::uvec3& f : strip) {
    const Triangle t = triangle_of(positions, f);
    area += 0.5 * glm::length(glm::cross(t.b - t.a, t.c - t.a));
  }
  EXPECT_NEAR(area / (3.14159265 * (0.012 * 0.012 - 0.010 * 0.010)), 1.0, 0.01);
}

// A loop of the skin and one of the wall with a common vertex: the strip closes both and uses no vertex twice in a
// face.
TEST(SculptLoft, LoopsWithACommonVertex) {
  std::vector<glm::vec3> positions;
  Loops loops;
  for (int k = 0; k < 8; ++k) {
    const float a = 0.785398f * static_cast<float>(k);
    positions.push_back({0.003f * std::cos(a), 0.003f * std::sin(a), 0.f});
    loops.vertex.push_back(static_cast<std::uint32_t>(k));
  }
  loops.close();
  for (std::uint32_t k = 0; k < 6; ++k) {
    const float a = -1.0471976f * static_cast<float>(k);
    positions.push_back({0.001f + 0.002f * std::cos(a), 0.002f * std::sin(a), 0.f});
    loops.vertex.push_back(k == 0 ? 0u : 8u + k);
  }
  loops.close();
  std::vector<RimEdge> rim, edges;
  for (std::size_t l = 0; l < 2; ++l)
    for (std::size_t i = 0; i < loops.loop(l).size(); ++i) {
      const std::uint32_t from = loops.loop(l)[i], to = loops.loop(l)[(i + 1) % loops.loop(l).size()];
      edges.push_back(from < to ? RimEdge{from, to, 1} : RimEdge{to, from, -1});
    }
  for (const glm::uvec3& f : close_loops(positions, loops, {0, 1}, 0.005f)) {
    EXPECT_TRUE(f.x != f.y && f.y != f.z && f.z != f.x);
    add_edges(f, 1, edges);
  }
  update_rim(rim, edges);
  EXPECT_TRUE(rim.empty());
}

TEST(SculptLoft, CapOfAPolygonHasItsArea) {
  for (const int count : {3, 4, 7, 24, 25, 60, 301}) {
    std::vector<glm::vec3> positions;
    std::vector<std::uint32_t> loop;
    for (int i = 0; i < count; ++i) {
      const float a = 6.2831853f * static_cast<float>(i) / static_cast<float>(count);
      positions.push_back({0.01f * std::cos(a), 0.01f * std::sin(a), 0.002f});
      loop.push_back(static_cast<std::uint32_t>(i));
    }
    std::vector<glm::uvec3> cap;
    add_cap(positions, loop, cap);
    ASSERT_EQ(cap.size(), static_cast<std::size_t>(count - 2));
    double area = 0.0;
    for (const glm::uvec3& f : cap) {
      const Triangle t = triangle_of(positions, f);
      area -= 0.5 * glm::cross(t.b - t.a, t.c - t.a).z;  // opposite orientation to the loop
    }
    EXPECT_NEAR(area, 0.5 * count * 1e-4 * std::sin(6.283185307 / count), 1e-9);
  }
}

// Tests random holes in a ball and random loops of both kinds: the result is always closed.
TEST(SculptLoft, AnyLoopsCloseTheSurface) {
  constexpr std::uint32_t kSeed = 22;
  std::printf("seed %u\n", kSeed);
  std::mt19937 random(kSeed);
  const TriangleMesh ball = shapes::icosphere(3);
  for (int round = 0; round < 100; ++round) {
    std::vector<glm::uvec3> faces;
    const unsigned share = 2 + random() % 8;
    for (const glm::uvec3& face : ball.faces)
      if (random() % 10 < share) faces.push_back(face);
    const Loops loops = find_loops(rim_of(faces));
    std::vector<char> wall;
    for (std::size_t k = 0; k < loops.count(); ++k) wall.push_back(static_cast<char>(random() % 2));
    const float reach = round % 3 == 0 ? 0.f : round % 3 == 1 ? 0.02f : 1.f;
    for (const glm::uvec3& f : close_loops(ball.positions, loops, wall, reach)) faces.push_back(f);
    // Loops of both kinds may share vertices here, and a strip's triangle may then use one twice: such a triangle has
    // no area, and its edges cancel.
    std::erase_if(faces, [](const glm::uvec3& f) { return f.x == f.y || f.y == f.z || f.z == f.x; });
    ASSERT_EQ(test::open_edges(faces), 0u) << "round " << round;
  }
}

// Triangulates loops: convex, concave, with holes, touching and degenerate. The triangles close every loop, and for
// proper loops they have the area of the region and none is turned over.

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
