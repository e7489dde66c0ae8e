// Compares prepared convex polygons with half-planes, scans and integers: preparation, point, farthest corner, line,
// segment.
#include "geometry/planar/convex_polygon.hpp"

#include <gtest/gtest.h>

#include "geometry/error.hpp"
#include "study/planar/convex_scan.hpp"
#include "tests/geometry/planar_polygons.hpp"

namespace trocar::planar {
namespace {

using namespace test;

constexpr int kQueriesPerPolygon = 500;

// Runs `query(random polygon, a corner's index)` a million times on polygons of 3 to 1000 corners.
template <class Query>
void for_many(Dice& dice, Tally& tally, const Query& query) {
  while (tally.cases < kCases) {
    const RandomConvex random = random_convex(dice, 1000);
    for (int k = 0; k < kQueriesPerPolygon; ++k, ++tally.cases) query(random, dice.pick(random.whole.size()));
  }
}

Whole point_near(Dice& dice, const RandomConvex& random, std::size_t i) {
  const std::vector<Whole>& c = random.whole;
  // Sometimes near a chord, which the bisection of the fan may use, else near a side.
  const std::size_t j = dice.pick(3) ? (i + 1) % c.size() : dice.pick(c.size());
  return point_about(dice, c[i], c[j], reach_of({c[0], c[i], c[j]}));
}

TEST(PlanarConvex, PreparedPolygonIsStrictlyConvexCounterClockwise) {
  Dice dice(11);
  Tally tally{"preparation"};
  int wrong = 0;
  while (tally.cases < kCases) {
    const std::vector<Whole> strict = convex_whole(dice, static_cast<int>(dice.log_uniform(3.0, 10.0)));
    for (int k = 0; k < 10; ++k, ++tally.cases) {
      const std::vector<Whole> extra = with_extras(dice, strict);
      const ConvexPolygon polygon(scaled(extra, 1.0));
      std::vector<dvec2> got(polygon.corners().begin(), polygon.corners().end());
      const auto start = std::find(got.begin(), got.end(), scaled(strict[0], 1.0));
      std::rotate(got.begin(), start, got.end());
      wrong += got != scaled(strict, 1.0);
      tally.degenerate += extra.size() > strict.size();
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_THROW(ConvexPolygon(std::vector<dvec2>{{0.0, 0.0}, {1.0, 0.0}, {2.0, 0.0}}), InputError);
}

TEST(PlanarConvex, ContainsAgreesWithHalfPlanes) {
  Dice dice(12);
  Tally tally{"point in convex polygon"};
  int wrong = 0;
  for_many(dice, tally, [&](const RandomConvex& random, std::size_t i) {
    const Whole p = point_near(dice, random, i);
    const dvec2 point = scaled(p, random.scale);
    const bool inside = contains_by_scan(random.polygon.corners(), point);
    wrong += contains(random.polygon.view(), point) != inside;
    const std::vector<Whole>& c = random.whole;
    tally.degenerate += side(c[i], c[(i + 1) % c.size()], p) == 0;
    if (tally.cases % 8 == 0) wrong += inside != (locate_by_winding(c, p) != Location::Outside);
  });
  EXPECT_EQ(wrong, 0);
}

TEST(PlanarConvex, FarthestAgreesWithScan) {
  Dice dice(13);
  Tally tally{"farthest corner"};
  int wrong = 0;
  for_many(dice, tally, [&](const RandomConvex& random, std::size_t i) {
    const std::vector<Whole>& c = random.whole;
    const Whole along = c[(i + 1) % c.size()] - c[i];
    // The direction is perpendicular to a side, a step beside that, along an axis, or arbitrary.
    Whole towards{along.y, -along.x};
    const std::int64_t kind = dice.pick(5);
    if (kind == 1) towards = towards + dice.point(1);
    if (kind == 2) towards = dice.point(1);
    if (kind == 3) towards = dice.point(1 << 30);
    if (kind == 4) towards = dice.point(5);
    if (towards == Whole{}) towards = {1, 0};
    const dvec2 direction = scaled(towards, dice.scale());
    const FarCorners far = farthest(random.polygon.view(), direction);
    const FarCorners expected = farthest_by_scan(random.polygon.corners(), direction);
    const FarCorners left = farthest_left(random.polygon.view(), dvec2(0.0), dvec2(direction.y, -direction.x));
    wrong += far.first != expected.first || far.last != expected.last;
    wrong += left.first != expected.first || left.last != expected.last;
    tally.degenerate += expected.first != expected.last;
    if (tally.cases % 8 != 0) return;
    const auto ahead = [&](Whole p, Whole q) { return dot(towards, p) < dot(towards, q); };
    wrong += dot(towards, *std::max_element(c.begin(), c.end(), ahead)) != dot(towards, c[far.first]);
  });
  EXPECT_EQ(wrong, 0);
}

// Two points that define a line or segment near the polygon.
struct WholeLine {
  Whole a, b;
};

WholeLine line_near(Dice& dice, const RandomConvex& random, std::size_t i) {
  WholeLine line{point_near(dice, random, i),
                 point_near(dice, random, dice.pick(4) ? i : dice.pick(random.whole.size()))};
  if (dice.pick(50) == 0) line.b = line.a;
  return line;
}

double sine(const dvec2& u, const dvec2& v) {
  const double lengths = glm::length(u) * glm::length(v);
  return lengths > 0.0 ? std::abs(cross(u, v)) / lengths : 0.0;
}

TEST(PlanarConvex, LineAgreesWithScan) {
  Dice dice(14);
  Tally tally{"line against convex polygon"};
  int wrong = 0, off = 0;
  long kinds[4] = {};
  for_many(dice, tally, [&](const RandomConvex& random, std::size_t i) {
    const WholeLine at = line_near(dice, random, i);
    const Segment line{scaled(at.a, random.scale), scaled(at.b, random.scale)};
    const Corners c = random.polygon.corners();
    const LineHit hit = line_hit(random.polygon.view(), line), expected = line_hit_by_scan(c, line);
    wrong += hit.kind != expected.kind;
    ++kinds[static_cast<int>(expected.kind)];
    tally.degenerate += expected.kind == LineMeeting::Corner || expected.kind == LineMeeting::Side ||
                        side(at.a, at.b, random.whole[i]) == 0;
    if (expected.kind == LineMeeting::None || hit.kind != expected.kind) return;
    const double size = random.scale * reach_of({random.whole[0], random.whole[i], at.a, at.b});
    double worst = 1.0;  // sine between line and sides, 1 where they meet in a corner
    if (hit.kind == LineMeeting::Through) {
      for (const std::uint32_t s : {hit.enter_side, hit.leave_side})
        worst = std::min(worst, sine(line.b - line.a, c[(s + 1) % c.size()] - c[s]));
    }
    // These cases are left out: a side lies nearly along the line, where rounding moves the point along it.
    if (worst < 1e-9) {
      ++tally.in_band;
      return;
    }
    const double tolerance = 1e-13 * size / worst;
    off += glm::length(hit.enter - expected.enter) > tolerance || glm::length(hit.leave - expected.leave) > tolerance;
  });
  std::printf("    %ld miss, %ld touch a corner, %ld run along a side, %ld pass through\n", kinds[0], kinds[1],
              kinds[2], kinds[3]);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(off, 0);
}

TEST(PlanarConvex, SegmentAgreesWithScan) {
  Dice dice(15);
  Tally tally{"segment against convex polygon"};
  int wrong = 0, off = 0;
  long meets = 0;
  for_many(dice, tally, [&](const RandomConvex& random, std::size_t i) {
    const WholeLine at = line_near(dice, random, i);
    const Segment segment{scaled(at.a, random.scale), scaled(at.b, random.scale)};
    const Corners c = random.polygon.corners();
    const SegmentInside inside = segment_inside(random.polygon.view(), segment);
    const SegmentInside expected = segment_inside_by_scan(c, segment);
    wrong += inside.meets != expected.meets;
    meets += expected.meets;
    tally.degenerate += at.a == at.b || side(at.a, at.b, random.whole[i]) == 0;
    if (!inside.meets || !expected.meets) return;
    const LineHit hit = line_hit(random.polygon.view(), segment);
    double worst = 1.0;
    if (hit.kind == LineMeeting::Through) {
      for (const std::uint32_t s : {hit.enter_side, hit.leave_side})
        worst = std::min(worst, sine(segment.b - segment.a, c[(s + 1) % c.size()] - c[s]));
    }
    if (worst < 1e-9) {
      ++tally.in_band;
      return;
    }
    const double size = random.scale * reach_of({random.whole[0], random.whole[i], at.a, at.b});
    const double length = glm::length(segment.b - segment.a), tolerance = 1e-13 * size / worst;
    off += std::abs(inside.enter - expected.enter) * length > tolerance;
    off += std::abs(inside.leave - expected.leave) * length > tolerance;
  });
  std::printf("    %ld meet\n", meets);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(off, 0);
}

// A square for which the source's line search fails: along a side, through two corners, through corner 1.
TEST(PlanarConvex, LinesThroughCornersOfASquare) {
  const ConvexPolygon square(std::vector<dvec2>{{0.0, 0.0}, {1.0, 0.0}, {1.0, 1.0}, {0.0, 1.0}});
  const LineHit along = line_hit(square.view(), {{-3.0, 0.0}, {5.0, 0.0}});
  EXPECT_EQ(along.kind, LineMeeting::Side);
  EXPECT_EQ(along.enter, dvec2(0.0, 0.0));
  EXPECT_EQ(along.leave, dvec2(1.0, 0.0));
  const LineHit diagonal = line_hit(square.view(), {{2.0, -1.0}, {1.5, -0.5}});
  EXPECT_EQ(diagonal.kind, LineMeeting::Through);
  EXPECT_EQ(diagonal.enter, dvec2(1.0, 0.0));
  EXPECT_EQ(diagonal.leave, dvec2(0.0, 1.0));
  const LineHit touching = line_hit(square.view(), {{-1.0, 1.0}, {1.0, -1.0}});
  EXPECT_EQ(touching.kind, LineMeeting::Corner);
  EXPECT_EQ(touching.enter, dvec2(0.0, 0.0));
  EXPECT_EQ(line_hit(square.view(), {{0.5, 0.5}, {0.5, 0.5}}).kind, LineMeeting::None);
}

TEST(PlanarConvex, SegmentsInASquare) {
  const ConvexPolygon square(std::vector<dvec2>{{0.0, 0.0}, {4.0, 0.0}, {4.0, 4.0}, {0.0, 4.0}});
  const struct {
    Segment segment;
    bool meets;
    double enter, leave;
  } cases[] = {{{{1.0, 1.0}, {1.0, 1.0}}, true, 0.0, 0.0},     // points: inside, corner, outside
               {{{4.0, 4.0}, {4.0, 4.0}}, true, 0.0, 0.0},     //
               {{{4.0, 5.0}, {4.0, 5.0}}, false, 0.0, 0.0},    //
               {{{1.0, 1.0}, {3.0, 2.0}}, true, 0.0, 1.0},     // inside
               {{{-4.0, 1.0}, {12.0, 1.0}}, true, 0.25, 0.5},  // through
               {{{-4.0, 1.0}, {-1.0, 1.0}}, false, 0.0, 0.0},  // before
               {{{5.0, 1.0}, {9.0, 1.0}}, false, 0.0, 0.0},    // after
               {{{2.0, 1.0}, {6.0, 1.0}}, true, 0.0, 0.5},     // out
               {{{-2.0, 1.0}, {2.0, 1.0}}, true, 0.5, 1.0},    // in
               {{{-4.0, 1.0}, {0.0, 1.0}}, true, 1.0, 1.0},    // up to a side
               {{{4.0, 1.0}, {8.0, 1.0}}, true, 0.0, 0.0},     // from a side
               {{{-4.0, 4.0}, {12.0, 4.0}}, true, 0.25, 0.5},  // along a side
               {{{5.0, 4.0}, {12.0, 4.0}}, false, 0.0, 0.0},   //
               {{{2.0, 6.0}, {6.0, 2.0}}, true, 0.5, 0.5}};    // at a corner
  for (const auto& [segment, meets, enter, leave] : cases) {
    const SegmentInside inside = segment_inside(square.view(), segment);
    EXPECT_EQ(inside.meets, meets) << segment.a.x << " " << segment.a.y;
    EXPECT_EQ(inside.enter, enter) << segment.a.x << " " << segment.a.y;
    EXPECT_EQ(inside.leave, leave) << segment.a.x << " " << segment.a.y;
  }
}

}  // namespace
}  // namespace trocar::planar
