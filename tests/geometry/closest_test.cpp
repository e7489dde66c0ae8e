// Tests closest points of segments and triangles: a separating slab proves them optimal without a search, and a nested
// golden-section search that shares no code with them confirms them. Lines that meet triangles are compared with them.
#include "geometry/closest.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <limits>

#include "geometry/refine.hpp"
#include "tests/geometry/random_steps.hpp"
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

// Compares the intersection of a line with a triangle with the closest points of a segment and a triangle, for
// degenerate input first.

constexpr Triangle kFace{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
constexpr double kEndless = std::numeric_limits<double>::infinity();

TEST(LineTriangle, DegenerateLinesAndFaces) {
  const Triangle point{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, needle{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  EXPECT_EQ(line_meets_triangle({1, 1, 0}, {0, 0, 1}, kEndless, point), 1.0);
  EXPECT_FALSE(line_meets_triangle({1, 1.001, 0}, {0, 0, 1}, kEndless, point));
  EXPECT_EQ(line_meets_triangle({1.5, 0, -1}, {0, 0, 1}, kEndless, needle), 1.0);
  EXPECT_EQ(line_meets_triangle({0.2, 0.2, 0}, {0, 0, 0}, 1.0, kFace), 0.0);
  EXPECT_FALSE(line_meets_triangle({0.2, 0.2, 0.1}, {0, 0, 0}, 1.0, kFace));
}

TEST(LineTriangle, WithinThePlane) {
  EXPECT_EQ(line_meets_triangle({0.2, 0.2, 0}, {1, 0, 0}, kEndless, kFace), 0.0);
  EXPECT_NEAR(line_meets_triangle({-1, 0.25, 0}, {0.5, 0, 0}, kEndless, kFace).value_or(-1), 2.0, 1e-12);
  EXPECT_FALSE(line_meets_triangle({-1, 0.25, 0}, {0.5, 0, 0}, 1.9, kFace));
  EXPECT_FALSE(line_meets_triangle({-1, 1.25, 0}, {1, 0, 0}, kEndless, kFace));
  EXPECT_NEAR(line_meets_triangle({-1, 0, 0}, {1, 0, 0}, kEndless, kFace).value_or(-1), 1.0, 1e-12);  // along an edge
  EXPECT_FALSE(line_meets_triangle({-1, 0.25, 1e-9}, {1, 0, 0}, kEndless, kFace));
}

// Tests lines in an oblique plane, whose computed rise is only rounding error.
TEST(LineTriangle, WithinObliquePlane) {
  Dice dice(18);
  int met = 0;
  for (int k = 0; k < 20000; ++k) {
    const dvec3 a = dice.in_cube(1), u = dice.in_cube(0.1), v = dice.in_cube(0.1);
    const auto random_point = [&] { return a + dice.uniform(-3, 3) * u + dice.uniform(-3, 3) * v; };
    const Triangle face{a, a + u, a + v};
    const dvec3 from = random_point(), to = random_point();
    const double apart = closest_segment_triangle(from, to, face).distance;
    const auto t = line_meets_triangle(from, to - from, 1.0, face);
    ASSERT_EQ(t.has_value(), apart < 1e-12) << "seed 18, case " << k;
    if (!t) continue;
    ++met;
    const dvec3 point = from + *t * (to - from);
    ASSERT_LT(closest_segment_triangle(point, point, face).distance, 1e-12) << "seed 18, case " << k;
  }
  EXPECT_GT(met, 1000);
}

// Tests exactly collinear corners, whose normal is only rounding error.
TEST(LineTriangle, ObliqueNeedles) {
  Dice dice(19);
  for (int k = 0; k < 20000; ++k) {
    const dvec3 a = dvec3(glm::round(dice.in_cube(64))) / 64.0, d = dvec3(1 + dice.pick(9), dice.pick(9), 3) / 256.0;
    const Triangle needle{a, a + d, a + 2.0 * d};
    const dvec3 from = dice.in_cube(2);
    const auto t = line_meets_triangle(from, needle.b - from, kEndless, needle);
    ASSERT_TRUE(t) << "seed 19, case " << k;
    ASSERT_NEAR(*t, 1.0, 1e-9) << "seed 19, case " << k;
    ASSERT_FALSE(line_meets_triangle(from, a + 3.0 * d - from, kEndless, needle)) << "seed 19, case " << k;
  }
}

TEST(LineTriangle, CornersAndEdgesBelongToTheFace) {
  for (const dvec3& p : {dvec3(0, 0, 0), dvec3(1, 0, 0), dvec3(0, 1, 0), dvec3(0.5, 0.5, 0), dvec3(0.5, 0, 0)})
    EXPECT_EQ(line_meets_triangle(p + dvec3(0, 0, 2), {0, 0, -1}, kEndless, kFace), 2.0);
  EXPECT_FALSE(line_meets_triangle({0, 0, 2}, {0, 0, -1}, 1.999, kFace));
  EXPECT_FALSE(line_meets_triangle({0, 0, 2}, {0, 0, 1}, kEndless, kFace));
}

TEST(LineTriangle, AgreesWithClosestPoints) {
  Dice dice(17);
  int met = 0;
  for (int k = 0; k < 200000; ++k) {
    const Triangle face{dice.in_cube(1), dice.in_cube(1), dice.in_cube(1)};
    const dvec3 from = dice.in_cube(1), to = dice.in_cube(1);
    const double apart = closest_segment_triangle(from, to, face).distance;
    const auto t = line_meets_triangle(from, to - from, 1.0, face);
    ASSERT_FALSE(apart > 1e-12 && t) << "seed 17, case " << k;
    if (!t) continue;
    ++met;
    const dvec3 point = from + *t * (to - from);
    ASSERT_LT(closest_segment_triangle(point, point, face).distance, 1e-10) << "seed 17, case " << k;
  }
  EXPECT_GT(met, 5000);
  EXPECT_LT(met, 60000);
}

// A line in the plane crosses a side at a small angle: it enters the face there. For nearly parallel lines the closest
// points are known to fewer digits than the crossing.
TEST(LineTriangle, EntersAcrossANearlyParallelSide) {
  Dice dice(20);
  std::printf("seed 20\n");
  for (int k = 0; k < 20000; ++k) {
    const double size = dice.log_uniform(1e-3, 10.0), angle = dice.log_uniform(1e-9, 0.1),
                 share = dice.uniform(0.2, 0.8);
    const double turn = dice.uniform(0.0, 6.283), c = std::cos(turn), s = std::sin(turn);
    // The side lies along x, the face above it; then all turns in the plane z = 0.
    const auto turned = [&](double x, double y) { return size * dvec3(c * x - s * y, s * x + c * y, 0.0); };
    const Triangle face{turned(0.0, 0.0), turned(1.0, 0.0), turned(0.5, 1.0)};
    const Triangle faces[] = {face, {face.b, face.c, face.a}, {face.c, face.b, face.a}};
    const dvec3 direction = turned(std::cos(angle), std::sin(angle)), crossing = turned(share, 0.0);
    const double length = dice.uniform(0.0, 3.0);
    const dvec3 from = crossing - length * direction;
    const auto t = line_meets_triangle(from, direction, kEndless, faces[dice.pick(3)]);
    const double rounding = 3e-13 / angle;
    ASSERT_TRUE(t) << "case " << k << " angle " << angle;
    ASSERT_NEAR(*t, length, 1e-12 + rounding) << "case " << k << " angle " << angle;
    if (length < 2.0 * rounding + 1e-9) continue;
    // It ends before the crossing; it misses when it is moved outward beyond the side's end.
    ASSERT_FALSE(line_meets_triangle(from, direction, length - 1e-9 - 2.0 * rounding, face)) << "case " << k;
    const dvec3 aside = turned(1.0 - share + 2.0 * rounding + 0.01, 0.0);
    ASSERT_FALSE(line_meets_triangle(from + aside, direction, kEndless, face)) << "case " << k << " angle " << angle;
  }
}

// A line parallel to the plane belongs to it up to the rounding of the coordinates, and no farther.
TEST(LineTriangle, LeavesThePlaneBeyondRounding) {
  Dice dice(21);
  std::printf("seed 21\n");
  for (int k = 0; k < 5000; ++k) {
    const double size = dice.log_uniform(1e-4, 1e3);
    const Triangle face{size * kFace.a, size * kFace.b, size * kFace.c};
    const dvec3 from(-size * dice.uniform(0.1, 2.0), 0.25 * size, 0.0),
        direction(dice.log_uniform(1e-3, 1e3), 0.0, 0.0);
    const double expected = -from.x / direction.x;
    const auto at_height = [&](double height) {
      return line_meets_triangle(from + dvec3(0.0, 0.0, height * size), direction, kEndless, face);
    };
    for (const double sign : {-1.0, 1.0}) {
      ASSERT_NEAR(at_height(sign * 1e-16).value_or(-1.0), expected, 1e-12 * expected) << "case " << k;
      ASSERT_FALSE(at_height(sign * 1e-11)) << "case " << k;
      ASSERT_FALSE(at_height(sign * 1e-6)) << "case " << k;
      ASSERT_FALSE(at_height(sign * 1.0)) << "case " << k;
    }
  }
}

// The sign of every orientation and of the direction: through each of many points of a face and just beside its sides.
TEST(LineTriangle, PiercesInsideAndMissesOutside) {
  Dice dice(22);
  std::printf("seed 22\n");
  for (int k = 0; k < 20000; ++k) {
    const double size = dice.log_uniform(1e-3, 10.0);
    const dvec3 a = dice.in_cube(1.0), e = dice.direction(), u = size * e, v = size * dice.across(e);
    Triangle face{a, a + u, a + v};
    if (dice.pick(2)) std::swap(face.b, face.c);
    const double x = dice.uniform(0.0, 1.0), y = dice.uniform(0.0, 1.0), off = dice.log_uniform(1e-9, 0.1);
    dvec3 direction = glm::normalize(glm::cross(u, v)) + 0.5 * dice.direction();
    if (dice.pick(2)) direction = -direction;
    const double t = dice.log_uniform(1e-3, 10.0);
    const auto through = [&](double along_u, double along_v) {
      return line_meets_triangle(a + along_u * u + along_v * v - t * direction, direction, kEndless, face);
    };
    ASSERT_NEAR(through((1.0 - off) * x * (1.0 - y) + 1e-10, (1.0 - off) * x * y + 1e-10).value_or(-1.0), t,
                1e-9 * (1.0 + t))
        << "case " << k;
    const double rounding = 1e-12 * (1.0 + t) / size;
    if (off < rounding) continue;
    ASSERT_FALSE(through(-off, y)) << "case " << k;
    ASSERT_FALSE(through(x, -off)) << "case " << k;
    ASSERT_FALSE(through(x + off, 1.0 - x + off)) << "case " << k;
  }
}

// All thresholds are relative: after scaling by a power of two the same lines meet, at the same parameter.
TEST(LineTriangle, DoesNotDependOnTheUnit) {
  Dice dice(23);
  std::printf("seed 23\n");
  for (int k = 0; k < 20000; ++k) {
    const double scale = std::ldexp(1.0, dice.pick(2) ? dice.pick(30) : -dice.pick(30));
    const dvec3 a = dice.in_cube(1), u = dice.in_cube(0.1), v = dice.pick(3) ? dice.in_cube(0.1) : 2.0 * u;
    const auto in_plane = [&] { return a + dice.uniform(-2, 2) * u + dice.uniform(-2, 2) * v; };
    const double off = dice.pick(3) ? dice.log_uniform(1e-17, 1e-8) : 0.0;
    const dvec3 from = in_plane() + off * dice.direction(), to = in_plane() + off * dice.direction();
    const auto t = line_meets_triangle(from, to - from, 1.0, {a, a + u, a + v});
    const auto grown =
        line_meets_triangle(scale * from, scale * (to - from), 1.0, {scale * a, scale * (a + u), scale * (a + v)});
    ASSERT_EQ(t, grown) << "case " << k << " scale " << scale;
    // A longer direction gives a smaller parameter.
    const auto longer = line_meets_triangle(from, 4.0 * (to - from), 0.25, {a, a + u, a + v});
    ASSERT_EQ(t.has_value(), longer.has_value()) << "case " << k;
    if (t) {
      ASSERT_EQ(*t, 4.0 * *longer) << "case " << k;
    }
  }
}

}  // namespace

}  // namespace trocar
