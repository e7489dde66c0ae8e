// Tests closest points of segments and triangles: a separating slab proves them optimal without a search, and a nested
// golden-section search that shares no code with them confirms them.
#include "geometry/closest.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "geometry/refine.hpp"
#include "tests/geometry/random_faces.hpp"
#include "tests/geometry/slow_distance.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using test::Dice;

constexpr std::uint32_t kSeed = 515;

// Returns the distance of x outside the convex hull of some points, estimated along many directions; 0 for a point of
// the hull.
double outside_hull(Dice& dice, const dvec3& x, std::span<const dvec3> corners) {
  double worst = 0.0;
  for (int i = 0; i < 12; ++i) {
    const dvec3 d = dice.direction();
    double most = -1e30;
    for (const dvec3& corner : corners) most = std::max(most, glm::dot(d, corner));
    worst = std::max(worst, glm::dot(d, x) - most);
  }
  return worst;
}

// Two convex hulls are at least `gap` apart when a slab of that width separates them. If points of both hulls have
// exactly that distance, the distance is proved. Returns the part of the distance that is not proved.
double unproved(const ClosestPoints& pair, std::span<const dvec3> first, std::span<const dvec3> second) {
  const dvec3 across = pair.on_second - pair.on_first;
  if (pair.distance < 1e-9) return pair.distance;
  const dvec3 n = across / pair.distance;
  double from = -1e30, to = 1e30;
  for (const dvec3& corner : first) from = std::max(from, glm::dot(n, corner - pair.on_first));
  for (const dvec3& corner : second) to = std::min(to, glm::dot(n, corner - pair.on_first));
  return pair.distance - (to - from);
}

// 1e-9 m: for a triangle thinner than 1e-8 of its size only the sides are used.
constexpr double kTolerance = 1e-9;  // m

void expect_closest(Dice& dice, const ClosestPoints& pair, std::span<const dvec3> first,
                    std::span<const dvec3> second) {
  ASSERT_NEAR(glm::distance(pair.on_first, pair.on_second), pair.distance, 1e-10);
  ASSERT_LT(outside_hull(dice, pair.on_first, first), 1e-10);
  ASSERT_LT(outside_hull(dice, pair.on_second, second), 1e-10);
  ASSERT_LT(unproved(pair, first, second), kTolerance);
}

TEST(ClosestSegments, AreProvedBySeparatingSlabs) {
  std::printf("seed %u\n", kSeed + 3);
  Dice dice(kSeed + 3);
  double worst = 0.0;
  for (int i = 0; i < 100000 && !HasFailure(); ++i) {
    const dvec3 p = dice.in_cube(0.2), q = p + dice.in_cube(dice.log_uniform(1e-4, 0.3));
    const dvec3 r = p + dice.in_cube(dice.log_uniform(1e-4, 0.3));
    dvec3 t = r + dice.in_cube(dice.log_uniform(1e-4, 0.3));
    const int kind = dice.pick(6);
    if (kind == 0) t = r;
    if (kind == 1) t = r + dice.uniform(-2.0, 2.0) * (q - p);
    if (kind == 2) t = r + dice.uniform(-2.0, 2.0) * (q - p) + dice.log_uniform(1e-14, 1e-3) * dice.direction();
    const closest::Segment one = closest::segment(p, q), two = closest::segment(r, t);
    const closest::SegmentPair pair = closest::closest_segments(one, two);
    ASSERT_EQ(closest::clamp01(pair.u), pair.u);
    ASSERT_EQ(closest::clamp01(pair.v), pair.v);
    const dvec3 first[] = {p, q}, second[] = {r, t};
    const ClosestPoints points{one.p + pair.u * one.d, two.p + pair.v * two.d, std::sqrt(pair.squared)};
    if (points.distance > 1e-3) worst = std::max(worst, unproved(points, first, second));
    ASSERT_LT(worst, 1e-13);
  }
  std::printf("largest unproved distance %.3g m\n", worst);
}

TEST(ClosestSegmentTriangle, IsProvedBySeparatingSlabs) {
  std::printf("seed %u\n", kSeed);
  Dice dice(kSeed);
  int apart = 0;
  for (int i = 0; i < 100000 && !HasFailure(); ++i) {
    const Triangle t = test::random_face(dice, dice.in_cube(0.2), dice.log_uniform(1e-4, 0.1));
    const dvec3 p = t.a + dice.in_cube(dice.log_uniform(1e-4, 0.2));
    dvec3 q = p + dice.in_cube(dice.log_uniform(1e-4, 0.3));
    const int kind = dice.pick(8);
    if (kind == 0) q = p;
    if (kind == 1) q = p + dice.uniform(-2.0, 2.0) * (t.b - t.a);
    if (kind == 2) q = p + (t.b - t.a) + dice.log_uniform(1e-15, 1e-3) * dice.direction();
    const dvec3 axis[] = {p, q}, corners[] = {t.a, t.b, t.c};
    const ClosestPoints pair = closest_segment_triangle(p, q, t);
    expect_closest(dice, pair, axis, corners);
    apart += pair.distance > 1e-9;
  }
  EXPECT_GT(apart, 30000);
}

TEST(ClosestTriangles, AreProvedBySeparatingSlabs) {
  std::printf("seed %u\n", kSeed + 1);
  Dice dice(kSeed + 1);
  int apart = 0;
  for (int i = 0; i < 100000 && !HasFailure(); ++i) {
    const Triangle s = test::random_face(dice, dice.in_cube(0.2), dice.log_uniform(1e-4, 0.1));
    Triangle t = test::random_face(dice, s.a + dice.in_cube(0.1), dice.log_uniform(1e-4, 0.1));
    if (dice.pick(8) == 0) t = {s.a + (t.a - s.a) * 0.1, s.b + (t.a - s.a) * 0.1, s.c + (t.a - s.a) * 0.1};  // parallel
    if (dice.pick(8) == 0) t.a = glm::mix(s.a, s.b, dice.uniform(0.0, 1.0));                                 // touching
    const dvec3 first[] = {s.a, s.b, s.c}, second[] = {t.a, t.b, t.c};
    const ClosestPoints pair = closest_triangles(s, t);
    expect_closest(dice, pair, first, second);
    apart += pair.distance > 1e-9;
  }
  EXPECT_GT(apart, 30000);
}

TEST(Closest, EqualsSlowSearch) {
  std::printf("seed %u\n", kSeed + 2);
  Dice dice(kSeed + 2);
  for (int i = 0; i < 600 && !HasFailure(); ++i) {
    const Triangle t = test::random_face(dice, dice.in_cube(0.2), dice.log_uniform(1e-3, 0.05));
    const dvec3 p = t.a + dice.in_cube(0.05), q = p + dice.in_cube(0.1);
    ASSERT_NEAR(closest_segment_triangle(p, q, t).distance, test::slow_segment_triangle(p, q, t), 2e-9);
  }
  for (int i = 0; i < 30 && !HasFailure(); ++i) {
    const Triangle s = test::random_face(dice, dice.in_cube(0.2), 0.05), t = test::random_face(dice, s.a, 0.05);
    ASSERT_NEAR(closest_triangles(s, t).distance, test::slow_triangles(s, t), 2e-9);
  }
}

TEST(Closest, DegenerateShapesHandMade) {
  const dvec3 o(0.0), x(1, 0, 0), y(0, 1, 0), z(0, 0, 1);
  const Triangle point{o, o, o}, line{o, x, 0.5 * x}, face{o, x, y};
  EXPECT_DOUBLE_EQ(closest_segment_triangle(z, z, point).distance, 1.0);
  EXPECT_DOUBLE_EQ(closest_segment_triangle(2.0 * x, 3.0 * x, line).distance, 1.0);
  EXPECT_DOUBLE_EQ(closest_segment_triangle(0.25 * x + z, 0.75 * x + z, line).distance, 1.0);
  EXPECT_DOUBLE_EQ(closest_segment_triangle(0.2 * (x + y) - z, 0.2 * (x + y) + z, face).distance, 0.0);
  EXPECT_DOUBLE_EQ(closest_segment_triangle(0.2 * (x + y) + z, 0.3 * (x + y) + z, face).distance, 1.0);
  EXPECT_DOUBLE_EQ(closest_segment_triangle(x, 2.0 * x, face).distance, 0.0);
  EXPECT_DOUBLE_EQ(closest_triangles(point, {2.0 * z, 2.0 * z, 2.0 * z}).distance, 2.0);
  EXPECT_DOUBLE_EQ(closest_triangles(face, face).distance, 0.0);
  EXPECT_DOUBLE_EQ(closest_triangles(face, {0.2 * (x + y) + z, 0.2 * (x + y) + z, 2.0 * z}).distance, 1.0);
  EXPECT_DOUBLE_EQ(closest_triangles(line, {0.5 * x - y, 0.5 * x + y, 0.5 * x + y}).distance, 0.0);
}

// All thresholds are relative: after scaling by a power of two the same points are the closest, to the last bit.
TEST(Closest, DoesNotDependOnTheUnit) {
  std::printf("seed %u\n", kSeed + 4);
  Dice dice(kSeed + 4);
  for (int i = 0; i < 20000 && !HasFailure(); ++i) {
    const double scale = std::ldexp(1.0, dice.pick(2) ? dice.pick(30) : -dice.pick(30));
    const dvec3 p = dice.in_cube(0.2), d = dice.in_cube(0.1), away = dice.in_cube(0.02);
    const double bend = dice.log_uniform(1e-12, 1e-2);
    // Nearly parallel to the segment: the side of a face, and the face.
    Triangle t{p + away - dice.uniform(0.0, 1.0) * d, p + away + d + bend * dice.in_cube(0.1), p + dice.in_cube(0.2)};
    if (dice.pick(3) == 0)
      t.c = glm::mix(t.a, t.b, dice.uniform(0.0, 1.0)) + dice.log_uniform(1e-12, 1e-4) * dice.direction();
    const auto scaled = [&](const dvec3& x) { return scale * x; };
    const Triangle grown{scaled(t.a), scaled(t.b), scaled(t.c)};
    const closest::Segment one = closest::segment(p, p + d), two = closest::segment(t.a, t.b);
    const closest::SegmentPair pair = closest::closest_segments(one, two),
                               of_grown = closest::closest_segments(closest::segment(scaled(p), scaled(p + d)),
                                                                    closest::segment(grown.a, grown.b));
    ASSERT_EQ(pair.u, of_grown.u) << "case " << i << " scale " << scale;
    ASSERT_EQ(pair.v, of_grown.v) << "case " << i << " scale " << scale;
    ASSERT_EQ(pair.squared * scale * scale, of_grown.squared) << "case " << i << " scale " << scale;
    const ClosestPoints points = closest_segment_triangle(p, p + d, t),
                        grown_points = closest_segment_triangle(scaled(p), scaled(p + d), grown);
    ASSERT_EQ(scaled(points.on_first), grown_points.on_first) << "case " << i << " scale " << scale;
    ASSERT_EQ(scaled(points.on_second), grown_points.on_second) << "case " << i << " scale " << scale;
  }
}

// A triangle as thin as the limit is degenerate, whatever its size: its sides alone count.
TEST(Closest, ThinTrianglesHaveNoInterior) {
  for (const double size : {1e-3, 1.0, 1e3}) {
    for (const double thin : {0.0, 0.99e-8, 1.01e-8, 1e-7, 1.0}) {
      const closest::Face face = closest::face({{0, 0, 0}, {size, 0, 0}, {0.25 * size, thin * size, 0}});
      EXPECT_EQ(face.squared_normal > 0.0, thin > 1e-8) << size << " " << thin;
      const closest::InteriorPair pair = closest::closest_interior(
          closest::segment({0.25 * size, 0.5 * thin * size, -size}, {0.25 * size, 0.5 * thin * size, size}), face);
      EXPECT_EQ(pair.inside, thin > 1e-8) << size << " " << thin;
      if (!pair.inside) continue;
      EXPECT_NEAR(pair.u, 0.5, 1e-12);
      EXPECT_NEAR(pair.gamma, 0.5, 1e-6);
      EXPECT_EQ(pair.squared, 0.0);
    }
  }
}

}  // namespace
}  // namespace trocar
