// Tests convex polygons in the plane: the bimodal search on every cyclic shift of every small strictly rising and
// falling sequence, queries against scans in O(n), and gaps against all pairs of sides.
#include "geometry/planar/convex_polygon.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "geometry/error.hpp"
#include "study/planar/convex_scan.hpp"
#include "tests/geometry/planar_random.hpp"

namespace trocar::planar {
namespace {

using namespace test;

// Also counts the comparisons.
struct Found {
  std::size_t maximum, minimum;
  long comparisons;
};

Found search(const std::vector<int>& f) {
  Found found{};
  const auto compare = [&](std::size_t i, std::size_t j) { return ++found.comparisons, (f[i] > f[j]) - (f[i] < f[j]); };
  found.maximum = bimodal_maximum(f.size(), compare);
  found.minimum = bimodal_minimum(f.size(), compare);
  return found;
}

bool right(const std::vector<int>& f) {
  const Found found = search(f);
  return f[found.maximum] == *std::max_element(f.begin(), f.end()) &&
         f[found.minimum] == *std::min_element(f.begin(), f.end());
}

// Every distribution of the values 0 .. n-1 to the rising and the falling half, with the two largest or the two
// smallest equal or not, in every shift.
TEST(PlanarBimodal, EverySmallSequence) {
  long cases = 0, wrong = 0;
  for (int n = 1; n <= 10; ++n) {
    for (int halves = 0; halves < 1 << n; ++halves) {
      for (int equal = 0; equal < (n >= 4 ? 4 : 1); ++equal) {
        std::vector<int> up, down;
        for (int v = 0; v < n; ++v) {
          const bool same_low = (equal & 1) && v == 1, same_high = (equal & 2) && v == n - 1;
          // Equal extremes go to different halves, so that they are neighbours.
          const bool rises = v == 0 || v == n - 2 || !(same_low || same_high) ? (halves >> v) & 1
                             : same_low                                       ? !(halves & 1)
                                                                              : !((halves >> (n - 2)) & 1);
          (rises ? up : down).push_back(same_low ? 0 : same_high ? n - 2 : v);
        }
        std::vector<int> f = up;
        f.insert(f.end(), down.rbegin(), down.rend());
        for (int shift = 0; shift < n; ++shift) {
          std::rotate(f.begin(), f.begin() + 1, f.end());
          ++cases;
          wrong += !right(f);
        }
      }
    }
  }
  std::printf("    %ld sequences\n", cases);
  EXPECT_EQ(wrong, 0);
}

TEST(PlanarBimodal, LargeSequencesInLogarithmicComparisons) {
  Dice dice(2);
  Tally tally{"bimodal extrema"};
  long wrong = 0, most = 0;
  std::vector<int> f;
  while (tally.cases < kCases) {
    const int n = static_cast<int>(dice.log_uniform(3.0, 1001.0)), up = static_cast<int>(dice.pick(n + 1));
    f.resize(n);
    int value = 0;
    for (int i = 0; i < up; ++i) f[i] = value += 1 + static_cast<int>(dice.pick(dice.pick(2) ? 2 : 5000));
    // Descends from just below, at or above the top; stays above the lowest value except at the very end.
    const int flat_top = static_cast<int>(dice.pick(3));
    value += flat_top == 0 ? 0 : static_cast<int>(dice.pick(3)) - 1;
    for (int i = up; i < n; ++i) f[i] = value, value -= 1 + static_cast<int>(dice.pick(3));
    if (up > 0 && up < n && dice.pick(4) == 0) f[n - 1] = std::min(f[0], n - up > 1 ? f[n - 2] - 1 : f[0]);
    tally.degenerate += up > 0 && up < n && (f[up] == f[up - 1] || f[0] == f[n - 1]);
    for (int k = 0; k < 20; ++k, ++tally.cases) {
      std::rotate(f.begin(), f.begin() + dice.pick(n), f.end());
      wrong += !right(f);
      most = std::max(most, search(f).comparisons);
    }
  }
  std::printf("    at most %ld comparisons for both extremes of 1000 values\n", most);
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(most, 2 * 3 * 12);
}

// Compares prepared convex polygons with half-planes, scans and integers: preparation, point, farthest corner, line,
// segment.

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

// Compares intersection and distance of two convex polygons with all pairs of sides, and with the linear merge for
// large ones. Points and segments are tested as polygons of one and two corners.

std::vector<Whole> shape(Dice& dice, int most) {
  const std::int64_t kind = dice.pick(12);
  const std::int64_t reach = dice.reach(1 << 30);
  if (kind == 0) return {dice.point(reach)};
  if (kind <= 2) {
    const Whole a = dice.point(reach), b = kind == 1 ? a + dice.point(1) : dice.point(reach);
    return a == b ? std::vector{a} : std::vector{a, b};
  }
  return convex_whole(dice, std::max(3, static_cast<int>(dice.log_uniform(3.0, most + 1.0))));
}

// Moves `second` relative to `first`: a corner onto a corner or a side or a step beside it, or anywhere near it.
Whole offset(Dice& dice, const std::vector<Whole>& first, const std::vector<Whole>& second) {
  const Whole p = first[dice.pick(first.size())], p2 = first[dice.pick(first.size())],
              q = second[dice.pick(second.size())];
  const std::int64_t reach = reach_of(first) + reach_of(second);
  switch (dice.pick(6)) {
    case 0:
      return p - q;
    case 1:
      return p - q + dice.point(1);
    case 2:
      return Whole{(p.x + p2.x) / 2, (p.y + p2.y) / 2} - q + dice.point(dice.pick(2));
    case 3:
      return dice.point(2 * reach);
    default:
      return dice.point(reach);
  }
}

bool contains_whole(const std::vector<Whole>& convex, Whole p) {
  for (std::size_t i = 0; i < convex.size(); ++i)
    if (side(convex[i], convex[(i + 1) % convex.size()], p) < 0) return false;
  return convex.size() > 2 || (convex.size() == 2 ? whole_on(convex[0], convex[1], p) : convex[0] == p);
}

bool meet_twin(const std::vector<Whole>& p, const std::vector<Whole>& q) {
  if (contains_whole(p, q[0]) || contains_whole(q, p[0])) return true;
  for (std::size_t i = 0; i < p.size(); ++i)
    for (std::size_t j = 0; j < q.size(); ++j)
      if (whole_meet(p[i], p[(i + 1) % p.size()], q[j], q[(j + 1) % q.size()])) return true;
  return false;
}

double distance_twin(Corners p, Corners q) {
  double best = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < 2; ++turn, std::swap(p, q))
    for (std::size_t i = 0; i < p.size(); ++i)
      for (const dvec2& corner : q) best = std::min(best, distance(Segment{p[i], p[(i + 1) % p.size()]}, corner));
  return best;
}

// Is the point on the polygon's boundary, within rounding?
bool on_outline(Corners p, const dvec2& point, double tolerance) {
  for (std::size_t i = 0; i < p.size(); ++i)
    if (distance(Segment{p[i], p[(i + 1) % p.size()]}, point) <= tolerance) return true;
  return false;
}

double size_of(const std::vector<Whole>& p, const std::vector<Whole>& q, double scale) {
  return scale * static_cast<double>(std::max(reach_of(p), reach_of(q)));
}

// A view of a strictly convex shape of one, two or more corners.
struct Shape {
  std::vector<dvec2> corners;
  ConvexView view;
  Shape(const std::vector<Whole>& whole, double scale) : corners(scaled(whole, scale)), view(convex_view(corners)) {}
};

TEST(PlanarGap, AgreesWithAllPairsOfSides) {
  Dice dice(16);
  Tally tally{"meeting and distance of polygons"};
  long wrong = 0, off = 0, meeting = 0;
  while (tally.cases < kCases) {
    const std::vector<Whole> first = shape(dice, 14), still = shape(dice, 14);
    for (int k = 0; k < 4; ++k, ++tally.cases) {
      const Whole by = offset(dice, first, still);
      std::vector<Whole> second = still;
      for (Whole& q : second) q = q + by;
      const double scale = dice.scale();
      const Shape p(first, scale), q(second, scale);
      const ConvexGap gap = convex_gap(p.view, q.view);
      const bool expected = meet_twin(first, second);
      meeting += expected;
      wrong += gap.meet != expected || convex_meet(q.view, p.view) != expected;
      const double apart = expected ? 0.0 : distance_twin(p.corners, q.corners), size = size_of(first, second, scale);
      tally.degenerate += first.size() < 3 || second.size() < 3 || (!expected && apart <= 2.0 * scale);
      if (gap.meet || expected) continue;
      off += std::abs(gap.distance - apart) > 1e-14 * size;
      off += std::abs(glm::length(gap.on_first - gap.on_second) - apart) > 1e-14 * size;
      off += !on_outline(p.corners, gap.on_first, 1e-14 * size) || !on_outline(q.corners, gap.on_second, 1e-14 * size);
    }
  }
  std::printf("    %ld meet\n", meeting);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(off, 0);
}

// Tests polygons of up to 1000 corners each. The merge rounds, so its answer may differ where the gap is below 1e-13 of
// the size.
TEST(PlanarGap, LargePolygonsAgreeWithTheMerge) {
  Dice dice(17);
  Tally tally{"same, up to 1000 corners, merge"};
  long wrong = 0, exact = 0;
  for (int pair = 0; pair < 4000; ++pair) {
    const std::vector<Whole> first = convex_whole(dice, std::max(3, static_cast<int>(dice.log_uniform(3.0, 1001.0))));
    const std::vector<Whole> still = convex_whole(dice, std::max(3, static_cast<int>(dice.log_uniform(3.0, 1001.0))));
    for (int k = 0; k < 10; ++k, ++tally.cases) {
      const Whole by = offset(dice, first, still);
      std::vector<Whole> second = still;
      for (Whole& q : second) q = q + by;
      const Shape p(first, 1.0), q(second, 1.0);
      const ConvexGap gap = convex_gap(p.view, q.view), merged = convex_gap_by_scan(p.corners, q.corners);
      const double size = size_of(first, second, 1.0);
      wrong += std::abs(gap.distance - merged.distance) > 1e-13 * size;
      if (gap.meet != merged.meet) wrong += std::max(gap.distance, merged.distance) > 1e-13 * size, ++tally.in_band;
      tally.degenerate += gap.distance < 1e-6 * size;
      if (first.size() * second.size() > 20'000 || k > 1) continue;
      wrong += gap.meet != meet_twin(first, second);
      ++exact;
    }
  }
  std::printf("    %ld of them against all pairs of sides\n", exact);
  EXPECT_EQ(wrong, 0);
}

TEST(PlanarGap, HandMadeCases) {
  const ConvexPolygon square(std::vector<dvec2>{{0.0, 0.0}, {1.0, 0.0}, {1.0, 1.0}, {0.0, 1.0}});
  const auto moved = [&](const dvec2& by) {
    std::vector<dvec2> corners(square.corners().begin(), square.corners().end());
    for (dvec2& c : corners) c += by;
    return ConvexPolygon(corners);
  };
  EXPECT_EQ(convex_gap(square.view(), moved({3.0, 0.5}).view()).distance, 2.0);
  EXPECT_EQ(convex_gap(square.view(), moved({4.0, 5.0}).view()).distance, 5.0);
  EXPECT_TRUE(convex_meet(square.view(), moved({1.0, 0.0}).view()));   // side on side
  EXPECT_TRUE(convex_meet(square.view(), moved({-1.0, 1.0}).view()));  // corner on corner
  EXPECT_TRUE(convex_meet(square.view(), moved({0.25, 0.5}).view()));
  EXPECT_FALSE(convex_meet(square.view(), moved({1.0 + 0x1p-52, 0.0}).view()));
  EXPECT_TRUE(convex_meet(square.view(), square.view()));
}

}  // namespace

}  // namespace trocar::planar
