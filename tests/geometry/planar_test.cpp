// Compares the exact signs, segments and polygons in the plane with 128-bit integers, triangulations on random
// polygons, and zones of the image with perspective cameras and dense sampling.
#include "geometry/exact_sign.hpp"

#include <gtest/gtest.h>

#include <glm/gtc/matrix_transform.hpp>
#include <limits>
#include <map>

#include "geometry/error.hpp"
#include "geometry/planar/polygon.hpp"
#include "geometry/planar/zone.hpp"
#include "study/planar/convex_scan.hpp"
#include "tests/geometry/planar_random.hpp"
#include "tests/support/allocation_counter.hpp"

namespace trocar::planar {
namespace {

using namespace test;

TEST(PlanarExact, CrossAndDotAgreeWithIntegers) {
  Dice dice(1);
  Tally tally{"cross_sign, dot_sign"};
  int wrong = 0;
  for (int i = 0; i < kCases; ++i) {
    const std::int64_t reach = dice.reach(std::int64_t{1} << 50);
    const double scale = dice.scale();
    const Whole a = dice.point(reach), b = dice.point(reach);
    const Whole c = dice.pick(2) ? a : dice.point(reach);
    // The second difference is parallel or perpendicular to a -> b, exactly or by a step beside it.
    const Whole along = dice.pick(2) ? b - a : Whole{a.y - b.y, b.x - a.x};
    const Whole d = dice.pick(3) ? c + dice.within(2) * along + dice.point(dice.pick(2)) : dice.point(reach);
    const int turn = sign(cross(b - a, d - c)), ahead = sign(dot(b - a, d - c));
    const dvec2 p = scaled(a, scale), q = scaled(b, scale), r = scaled(c, scale), s = scaled(d, scale);
    wrong += cross_sign(p, q, r, s) != turn || exact_cross_sign(p, q, r, s) != turn;
    wrong += dot_sign(p, q, r, s) != ahead || exact_dot_sign(p, q, r, s) != ahead;
    ++tally.cases;
    tally.degenerate += turn == 0 || ahead == 0;
  }
  EXPECT_EQ(wrong, 0);
}

// Coordinates whose differences are not doubles: a grid point moved by single units in the last place.
TEST(PlanarExact, NeighbouringDoubles) {
  const dvec2 a(0.5, 0.5), b(12.0, 12.0), c(24.0, 24.0);
  const double unit = 0x1p-53;
  for (int i = 0; i < 256; ++i) {
    for (int j = 0; j < 256; ++j) {
      const dvec2 p(0.5 + i * unit, 0.5 + j * unit);
      // p, b and c: the line is x == y.
      EXPECT_EQ(side_of_line(b, c, p), sign_of(j - i));
      EXPECT_EQ(side_of_line(p, b, c), sign_of(j - i));
    }
  }
  EXPECT_EQ(side_of_line(a, a, c), 0);
  EXPECT_EQ(exact_cross_sign(a, b, a, c), 0);
}

// The same doubles, each first difference turned by a quarter: its dot product is the cross product of the original.
TEST(PlanarExact, NeighbouringDoublesDot) {
  const dvec2 b(12.0, 12.0), c(24.0, 24.0);
  const double unit = 0x1p-53;
  int wrong = 0;
  for (int i = 0; i < 256; ++i) {
    for (int j = 0; j < 256; ++j) {
      const dvec2 p(0.5 + i * unit, 0.5 + j * unit);
      wrong += dot_sign(quarter_turn(b), quarter_turn(c), b, p) != sign_of(j - i);
      wrong += dot_sign(quarter_turn(p), quarter_turn(b), p, c) != sign_of(j - i);
      wrong += dot_sign(p, c, quarter_turn(p), quarter_turn(b)) != sign_of(j - i);
      wrong += dot_sign(p, p, b, c) != 0 || cross_sign(b, c, p, p) != 0;
    }
  }
  EXPECT_EQ(wrong, 0);
}

// The filter decides where both products are far from cancelling, with every combination of signs and zeros.
TEST(PlanarExact, SmallDifferences) {
  const int steps[] = {-2, -1, 0, 1, 2};
  for (const int x : steps)
    for (const int y : steps)
      for (const int u : steps)
        for (const int v : steps) {
          const dvec2 a(7.0, -3.0), b = a + dvec2(x, y), c(-1.0, 5.0), d = c + dvec2(u, v);
          EXPECT_EQ(cross_sign(a, b, c, d), sign_of(x * v - y * u));
          EXPECT_EQ(exact_cross_sign(a, b, c, d), sign_of(x * v - y * u));
          EXPECT_EQ(dot_sign(a, b, c, d), sign_of(x * u + y * v));
          EXPECT_EQ(exact_dot_sign(a, b, c, d), sign_of(x * u + y * v));
        }
}

// Compares segments with integers (intersection and its kind) and with a search along them (distance).

struct WholeSegment {
  Whole a, b;
};

bool on(const WholeSegment& s, Whole p) { return side(s.a, s.b, p) == 0 && dot(s.a - p, s.b - p) <= 0; }

// Decides by Cramer's rule in integers; for parallel segments, by the number of ends that lie on the other one.
SegmentMeeting meeting_twin(const WholeSegment& s, const WholeSegment& t) {
  const Whole d = s.b - s.a, e = t.b - t.a, w = t.a - s.a;
  Wide whole = cross(d, e), u = cross(w, e), v = cross(w, d);
  if (whole != 0) {
    if (whole < 0) whole = -whole, u = -u, v = -v;
    return u >= 0 && u <= whole && v >= 0 && v <= whole ? SegmentMeeting::Point : SegmentMeeting::None;
  }
  std::vector<Whole> shared;
  for (const Whole& p : {s.a, s.b})
    if (on(t, p)) shared.push_back(p);
  for (const Whole& p : {t.a, t.b})
    if (on(s, p)) shared.push_back(p);
  if (shared.empty()) return SegmentMeeting::None;
  const bool one = std::all_of(shared.begin(), shared.end(), [&](Whole p) { return p == shared[0]; });
  return one ? SegmentMeeting::Point : SegmentMeeting::Overlap;
}

// Returns the smallest value of a convex function on [0, 1].
template <class F>
double minimum(const F& f) {
  double low = 0.0, high = 1.0;
  for (int i = 0; i < 80; ++i) {
    const double a = low + (high - low) / 3.0, b = high - (high - low) / 3.0;
    (f(a) < f(b) ? high : low) = f(a) < f(b) ? b : a;
  }
  return std::min({f(0.0), f(1.0), f(low)});
}

struct Case {
  WholeSegment s, t;
  double scale;
  Segment first, second;
};

Case random_case(Dice& dice, std::int64_t largest) {
  const std::int64_t reach = dice.reach(largest);
  Case c;
  c.scale = dice.scale();
  c.s = {dice.point(reach), dice.point(reach)};
  if (dice.pick(20) == 0) c.s.b = c.s.a;
  c.t.a = point_about(dice, c.s.a, c.s.b, reach);
  c.t.b = dice.pick(20) == 0 ? c.t.a : point_about(dice, c.s.a, c.s.b, reach);
  c.first = {scaled(c.s.a, c.scale), scaled(c.s.b, c.scale)};
  c.second = {scaled(c.t.a, c.scale), scaled(c.t.b, c.scale)};
  return c;
}

TEST(PlanarSegment, MeetingAgreesWithIntegers) {
  Dice dice(3);
  Tally tally{"segment meets segment"};
  int wrong = 0, off = 0;
  for (int i = 0; i < kCases; ++i) {
    const Case c = random_case(dice, std::int64_t{1} << 40);
    const SegmentMeeting expected = meeting_twin(c.s, c.t);
    const SegmentHit hit = meet(c.first, c.second);
    wrong += hit.kind != expected || segments_meet(c.first, c.second) != (expected != SegmentMeeting::None);
    wrong += on_segment(c.first, c.second.a) != on(c.s, c.t.a);
    ++tally.cases;
    tally.degenerate += side(c.s.a, c.s.b, c.t.a) == 0 || side(c.s.a, c.s.b, c.t.b) == 0;
    if (expected == SegmentMeeting::None) continue;
    // The reported points lie on both segments and match the parameters, unless the segments are nearly parallel:
    // the band is 0 < sine < 1e-9, where rounding moves the point along them by more than 1e-5 of their size.
    const double size = c.scale * static_cast<double>(reach_of({c.s.a, c.s.b, c.t.a, c.t.b}));
    const double turn = std::abs(static_cast<double>(cross(c.s.b - c.s.a, c.t.b - c.t.a))) * c.scale * c.scale;
    const double lengths = glm::length(c.first.b - c.first.a) * glm::length(c.second.b - c.second.a);
    const double sine = turn > 0.0 ? turn / lengths : 1.0;
    if (sine < 1e-9) {
      ++tally.in_band;
      continue;
    }
    const double tolerance = 1e-14 * size / sine;
    for (const dvec2& p : {hit.from, hit.to})
      off += distance(c.first, p) > tolerance || distance(c.second, p) > tolerance;
    off += glm::length(point_at(c.first, hit.parameter_first) - hit.from) > tolerance;
    off += glm::length(point_at(c.second, hit.parameter_second) - hit.from) > tolerance;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(off, 0);
}

TEST(PlanarSegment, DistancesAgreeWithSearch) {
  Dice dice(4);
  Tally tally{"segment distances"};
  int wrong = 0;
  for (int i = 0; i < kCases; ++i) {
    const Case c = random_case(dice, 1 << 20);
    const double size = c.scale * static_cast<double>(reach_of({c.s.a, c.s.b, c.t.a, c.t.b}));
    const auto to_point = [&](double u) { return glm::length(point_at(c.first, u) - c.second.a); };
    const double point = minimum(to_point), tolerance = 1e-7 * size;
    wrong += std::abs(distance(c.first, c.second.a) - point) > 1e-12 * size + 1e-3 * tolerance;
    const double pair = i % 4 == 0 ? minimum([&](double u) { return distance(c.second, point_at(c.first, u)); })
                                   : distance(c.second, c.first);
    wrong += std::abs(distance(c.first, c.second) - pair) > tolerance;
    ++tally.cases;
    tally.degenerate += point == 0.0 || c.s.a == c.s.b || c.t.a == c.t.b;
  }
  EXPECT_EQ(wrong, 0);
}

TEST(PlanarSegment, HandMadeCases) {
  const Segment wall{{0.0, 0.0}, {4.0, 0.0}};
  EXPECT_EQ(meet(wall, {{1.0, 1.0}, {1.0, 0.0}}).kind, SegmentMeeting::Point);    // ends on the wall
  EXPECT_EQ(meet(wall, {{4.0, 0.0}, {5.0, 1.0}}).kind, SegmentMeeting::Point);    // end on end
  EXPECT_EQ(meet(wall, {{1.0, 0.0}, {9.0, 0.0}}).kind, SegmentMeeting::Overlap);  // along the wall
  EXPECT_EQ(meet(wall, {{4.0, 0.0}, {9.0, 0.0}}).kind, SegmentMeeting::Point);
  EXPECT_EQ(meet(wall, {{5.0, 0.0}, {9.0, 0.0}}).kind, SegmentMeeting::None);
  EXPECT_EQ(meet(wall, {{2.0, 0.0}, {2.0, 0.0}}).kind, SegmentMeeting::Point);
  const SegmentHit crossing = meet(wall, {{1.0, -1.0}, {1.0, 3.0}});
  EXPECT_EQ(crossing.parameter_first, 0.25);
  EXPECT_EQ(crossing.parameter_second, 0.25);
  EXPECT_EQ(crossing.from, dvec2(1.0, 0.0));
  EXPECT_EQ(distance(wall, Segment{{6.0, 0.0}, {6.0, 5.0}}), 2.0);
}

// Compares point in polygon, area and the loaders' checks with tests in integers: winding along the other axis, all
// pairs of sides.

TEST(PlanarPolygon, PointLocationAgreesWithWinding) {
  Dice dice(5);
  Tally tally{"point in any polygon"};
  int wrong = 0;
  while (tally.cases < kCases) {
    const SimpleWhole outline =
        simple_whole(dice, static_cast<int>(dice.log_uniform(3.0, dice.pick(20) ? 14.0 : 60.0)));
    const double scale = dice.scale();
    const std::vector<dvec2> polygon = scaled(outline.corners, scale);
    const std::size_t n = polygon.size();
    for (int k = 0; k < 100; ++k) {
      const std::size_t i = dice.pick(n);
      const Whole p = point_about(dice, outline.corners[i], outline.corners[(i + 1) % n], outline.reach);
      const Location expected = locate_by_winding(outline.corners, p);
      wrong += locate_in_polygon(polygon, scaled(p, scale)) != expected;
      wrong += polygon_contains(polygon, scaled(p, scale)) != (expected != Location::Outside);
      ++tally.cases;
      tally.degenerate += expected == Location::Boundary || p.y == outline.corners[i].y;
    }
  }
  EXPECT_EQ(wrong, 0);
}

// Tests large polygons: stars of up to 1000 corners.
TEST(PlanarPolygon, PointLocationInLargeStars) {
  Dice dice(6);
  Tally tally{"point in stars, up to 1000 corners"};
  int wrong = 0;
  for (int polygon = 0; polygon < 200; ++polygon) {
    const std::vector<Whole> outline = star_whole(dice, static_cast<int>(dice.log_uniform(3.0, 1001.0)));
    const std::vector<dvec2> corners = scaled(outline, 1.0);
    for (int k = 0; k < 100; ++k) {
      const std::size_t i = dice.pick(outline.size());
      const Whole p = point_about(dice, outline[i], outline[(i + 1) % outline.size()], 1 << 20);
      const Location expected = locate_by_winding(outline, p);
      wrong += locate_in_polygon(corners, scaled(p, 1.0)) != expected;
      ++tally.cases;
      tally.degenerate += expected == Location::Boundary;
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST(PlanarPolygon, ChecksAndAreaAgreeWithIntegers) {
  Dice dice(7);
  Tally tally{"simple, convex, area"};
  int wrong = 0;
  long simple = 0, convex = 0;
  std::vector<Whole> outline;
  for (int i = 0; i < kCases; ++i) {
    outline.clear();
    const std::int64_t reach = dice.reach(1 << 30);
    const std::int64_t n = dice.pick(40) ? 3 + dice.pick(4) : dice.pick(12);
    for (std::int64_t k = 0; k < n; ++k)
      outline.push_back(k > 0 && dice.pick(12) == 0 ? outline.back() : dice.point(reach));
    if (dice.pick(3) == 0 && hull(outline).size() >= 3) outline = with_extras(dice, hull(outline));
    const double scale = dice.scale();
    const std::vector<dvec2> polygon = scaled(outline, scale);
    const bool is_simple = simple_twin(outline), is_convex = is_simple && convex_twin(outline);
    wrong += simple_fault(polygon).empty() != is_simple;
    wrong += convex_fault(polygon).empty() != is_convex;
    const double area = 0.5 * scale * scale * static_cast<double>(twice_area(outline));
    wrong += std::abs(signed_area(polygon) - area) > 1e-14 * scale * scale * static_cast<double>(reach) * reach * n;
    ++tally.cases;
    tally.degenerate += twice_area(outline) == 0 || distinct_corners(polygon).size() < outline.size();
    simple += is_simple;
    convex += is_convex;
  }
  std::printf("    %ld of them simple, %ld convex\n", simple, convex);
  EXPECT_EQ(wrong, 0);
}

TEST(PlanarPolygon, FaultsAreSentences) {
  const std::vector<dvec2> bow{{0.0, 0.0}, {2.0, 2.0}, {2.0, 0.0}, {0.0, 2.0}};
  EXPECT_EQ(simple_fault(bow), "the sides after corners 1 and 3 of the outline meet; draw it without touching itself");
  const std::vector<dvec2> two{{0.0, 0.0}, {1.0, 0.0}, {1.0, 0.0}};
  EXPECT_EQ(simple_fault(two), "an outline needs at least 3 different corners, but this one has 2; add corners");
  const std::vector<dvec2> spike{{0.0, 0.0}, {2.0, 0.0}, {1.0, 0.0}, {1.0, 1.0}};
  EXPECT_EQ(simple_fault(spike), "the outline turns back on itself at corner 2; remove that corner");
  const std::vector<dvec2> bad{{0.0, 0.0}, {1.0, 0.0}, {1.0, std::numeric_limits<double>::quiet_NaN()}};
  EXPECT_EQ(convex_fault(bad), "corner 3 of the outline is not a finite number; correct it");
  const std::vector<dvec2> dart{{0.0, 0.0}, {4.0, 0.0}, {1.0, 1.0}, {0.0, 4.0}};
  EXPECT_EQ(simple_fault(dart), "");
  EXPECT_EQ(convex_fault(dart), "the outline turns in the other direction at corner 3; it must be convex");
  std::vector<dvec2> pentagram;
  for (const int k : {0, 2, 4, 1, 3}) pentagram.emplace_back(std::cos(1.2566370614 * k), std::sin(1.2566370614 * k));
  EXPECT_EQ(convex_fault(pentagram), "the outline winds around itself more than once; it must be convex");
}

// Cases where crossing counts fail: a ray that grazes a corner, a side along the ray, a repeated corner.
TEST(PlanarPolygon, RaysThroughCorners) {
  const std::vector<dvec2> triangle{{1.0, 1.0}, {4.0, 1.0}, {3.0, 2.0}};
  EXPECT_EQ(locate_in_polygon(triangle, {0.0, 0.0}), Location::Outside);  // the far point on x == y grazes corner 1
  EXPECT_EQ(locate_in_polygon(triangle, {0.0, 1.0}), Location::Outside);  // a side lies along the ray
  EXPECT_EQ(locate_in_polygon(triangle, {0.0, 2.0}), Location::Outside);  // the top corner lies on the ray
  EXPECT_EQ(locate_in_polygon(triangle, {2.0, 1.0}), Location::Boundary);
  const std::vector<dvec2> repeated{{0.0, 0.0}, {0.0, 0.0}, {4.0, 0.0}, {4.0, 4.0}, {4.0, 4.0}, {0.0, 4.0}};
  EXPECT_EQ(locate_in_polygon(repeated, {1.0, 1.0}), Location::Inside);
  EXPECT_EQ(locate_in_polygon(repeated, {-1.0, 4.0}), Location::Outside);
  EXPECT_EQ(signed_area(repeated), 16.0);
}

TEST(PlanarPolygon, OfOnePointOrALine) {
  for (std::size_t n = 0; n < 5; ++n) {
    const std::vector<dvec2> same(n, dvec2(2.0, 3.0));
    EXPECT_EQ(distinct_corners(same).size(), std::min<std::size_t>(n, 1));
    const std::string expected = "an outline needs at least 3 different corners, but this one has " +
                                 std::to_string(std::min<std::size_t>(n, 1)) + "; add corners";
    EXPECT_EQ(simple_fault(same), expected);
    EXPECT_EQ(convex_fault(same), expected);
    EXPECT_EQ(signed_area(same), 0.0);
  }
  const std::vector<dvec2> ends{{1.0, 1.0}, {1.0, 1.0}, {2.0, 5.0}, {1.0, 1.0}, {1.0, 1.0}};
  EXPECT_EQ(distinct_corners(ends), (std::vector<std::uint32_t>{0, 2}));
}

// Every point of a small grid against every triangle of it: inside, outside, on a side, on a corner.
TEST(PlanarPolygon, EveryPointOfASmallGrid) {
  int wrong = 0;
  for (int t = 0; t < 729 * 27; ++t) {
    std::vector<Whole> outline;
    for (int k = 0, rest = t % 729; k < 3; ++k, rest /= 9) outline.push_back({rest % 3, rest / 3 % 3});
    const Whole p{t / 729 % 5 - 1, t / 729 / 5 - 1};
    if (twice_area(outline) == 0) continue;
    wrong += locate_in_polygon(scaled(outline, 1.0), scaled(p, 1.0)) != locate_by_winding(outline, p);
  }
  EXPECT_EQ(wrong, 0);
}

// Tests ear clipping and the convex partition on random simple polygons. The directed sides of all triangles add up to
// the outline. So if all triangles are counter-clockwise, they cover each point exactly as often as the outline winds
// around it: once. This is checked in whole numbers, and by points.

Wide twice_area(const std::vector<Whole>& c, const CornerTriangle& t) {
  return cross(c[t[1]] - c[t[0]], c[t[2]] - c[t[0]]);
}

int inward_corners(const std::vector<Whole>& polygon) {
  const std::vector<Whole> c = without_repeats(polygon);
  const int turn = sign(test::twice_area(c));
  int inward = 0;
  for (std::size_t i = 0; i < c.size(); ++i)
    inward += side(c[(i + c.size() - 1) % c.size()], c[i], c[(i + 1) % c.size()]) == -turn;
  return inward;
}

// Strictly inside.
bool inside(const std::vector<Whole>& c, std::span<const std::uint32_t> piece, Whole p) {
  for (std::size_t k = 0; k < piece.size(); ++k)
    if (side(c[piece[k]], c[piece[(k + 1) % piece.size()]], p) <= 0) return false;
  return true;
}

std::span<const std::uint32_t> piece(const ConvexPieces& pieces, std::size_t i) {
  return std::span(pieces.corner).subspan(pieces.start[i], pieces.start[i + 1] - pieces.start[i]);
}

TEST(PlanarTriangulate, RandomSimplePolygons) {
  Dice dice(8);
  Tally tally{"ear clipping, convex pieces"};
  long triangles_made = 0, pieces_made = 0, wrong = 0;
  while (tally.cases < kCases) {
    const SimpleWhole grown = simple_whole(dice, static_cast<int>(dice.log_uniform(3.0, dice.pick(20) ? 10.0 : 40.0)));
    for (int k = 0; k < 20; ++k, ++tally.cases) {
      const std::vector<Whole> c = k == 0 ? grown.corners : with_extras(dice, without_repeats(grown.corners));
      const double scale = dice.scale();
      const std::vector<dvec2> polygon = scaled(c, scale);
      const auto triangles = triangulate(polygon);
      const Wide whole = test::twice_area(c) < 0 ? -test::twice_area(c) : test::twice_area(c);
      Wide sum = 0;
      for (const CornerTriangle& t : triangles) sum += twice_area(c, t), wrong += twice_area(c, t) <= 0;
      wrong += sum != whole || triangles.size() + 2 > c.size();
      tally.degenerate += triangles.size() + 2 < c.size();
      triangles_made += static_cast<long>(triangles.size());
      const ConvexPieces pieces = convex_pieces(polygon);
      pieces_made += static_cast<long>(pieces.count());
      wrong += static_cast<int>(pieces.count()) > 2 * inward_corners(c) + 1;
      Wide piece_sum = 0;
      std::vector<Whole> corners;
      for (std::size_t i = 0; i < pieces.count(); ++i) {
        corners.clear();
        for (const std::uint32_t at : piece(pieces, i)) corners.push_back(c[at]);
        wrong += !convex_fault(scaled(corners, scale)).empty() || test::twice_area(corners) <= 0;
        piece_sum += test::twice_area(corners);
      }
      wrong += piece_sum != whole;
      // A point inside lies in at most one triangle and one piece, a point outside in none.
      const Whole p = dice.point(grown.reach);
      int in_triangles = 0, in_pieces = 0;
      for (const CornerTriangle& t : triangles) in_triangles += inside(c, t, p);
      for (std::size_t i = 0; i < pieces.count(); ++i) in_pieces += inside(c, piece(pieces, i), p);
      const bool is_inside = locate_by_winding(c, p) == Location::Inside;
      wrong += in_triangles > is_inside || in_pieces > is_inside;
    }
  }
  std::printf("    %ld triangles, %ld convex pieces\n", triangles_made, pieces_made);
  EXPECT_EQ(wrong, 0);
}

// The sum of all directed sides of the triangles is the outline. (Where a corner was dropped during cutting, two short
// sides face one long one; those outlines are covered only by the test above.)
TEST(PlanarTriangulate, SidesCancel) {
  Dice dice(9);
  int compared = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::vector<Whole> c = simple_whole(dice, 12).corners;
    const auto triangles = triangulate(scaled(c, 1.0));
    const auto n = static_cast<std::uint32_t>(c.size());
    if (triangles.size() + 2 < n) continue;
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> sides;
    for (const CornerTriangle& t : triangles) {
      for (int k = 0; k < 3; ++k) {
        ++sides[{t[k], t[(k + 1) % 3]}];
        --sides[{t[(k + 1) % 3], t[k]}];
      }
    }
    const std::uint32_t step = test::twice_area(c) > 0 ? 1 : n - 1;
    for (const auto& [ends, count] : sides) {
      const int expected = ends.second == (ends.first + step) % n ? 1 : ends.first == (ends.second + step) % n ? -1 : 0;
      ASSERT_EQ(count, expected);
    }
    ++compared;
  }
  EXPECT_GT(compared, 500);
}

TEST(PlanarTriangulate, LargeStars) {
  Dice dice(10);
  for (int i = 0; i < 30; ++i) {
    const std::vector<Whole> c = star_whole(dice, static_cast<int>(dice.log_uniform(3.0, 1001.0)));
    const std::vector<dvec2> polygon = scaled(c, 1.0);
    double sum = 0.0;
    for (const CornerTriangle& t : triangulate(polygon))
      sum += signed_area(std::vector{polygon[t[0]], polygon[t[1]], polygon[t[2]]});
    EXPECT_NEAR(sum, signed_area(polygon), 1e-13 * sum);
  }
}

// The corner (0, 0) turns inward, but its triangle contains the corner (1, 1), so it is not an ear.
TEST(PlanarTriangulate, ConvexCornerNeedNotBeAnEar) {
  const std::vector<dvec2> dart{{0.0, 0.0}, {4.0, 0.0}, {1.0, 1.0}, {0.0, 4.0}};
  const auto triangles = triangulate(dart);
  ASSERT_EQ(triangles.size(), 2u);
  for (const CornerTriangle& t : triangles) EXPECT_TRUE(std::find(t.begin(), t.end(), 2u) != t.end());
  EXPECT_EQ(convex_pieces(dart).count(), 2u);
}

TEST(PlanarTriangulate, RefusesNonSimplePolygons) {
  const std::vector<dvec2> bow{{0.0, 0.0}, {2.0, 2.0}, {2.0, 0.0}, {0.0, 2.0}};
  EXPECT_THROW(triangulate(bow), InputError);
  EXPECT_THROW(convex_pieces(std::vector<dvec2>{}), InputError);
}

// Tests zones and the projected tool: compares distances with the outline and dense sampling, and the projection with
// hand-computed perspective cameras. A frame must not allocate.

double outline_distance(Corners c, const dvec2& p) {
  double best = 1e300;
  for (std::size_t i = 0; i < c.size(); ++i) best = std::min(best, distance(Segment{c[i], c[(i + 1) % c.size()]}, p));
  return best;
}

double signed_twin(Corners c, const dvec2& p) {
  const double away = outline_distance(c, p);
  return locate_in_polygon(c, p) == Location::Inside ? -away : away;
}

// An outline of a few corners in the image, and its corners as doubles.
struct RandomZone {
  SimpleWhole whole;
  double scale;
  Zone zone;
};

RandomZone random_zone(Dice& dice) {
  SimpleWhole whole = simple_whole(dice, static_cast<int>(dice.log_uniform(3.0, dice.pick(10) ? 12.0 : 40.0)));
  const double scale = std::exp2(-std::ceil(std::log2(static_cast<double>(whole.reach))));
  Zone zone(scaled(whole.corners, scale), ZoneKind::Forbidden);
  return {std::move(whole), scale, std::move(zone)};
}

TEST(PlanarZone, PointDistanceAgreesWithTheOutline) {
  Dice dice(24);
  Tally tally{"point to zone"};
  int wrong = 0;
  long inside = 0;
  while (tally.cases < kCases) {
    const RandomZone random = random_zone(dice);
    const std::vector<Whole>& c = random.whole.corners;
    for (int k = 0; k < 200; ++k, ++tally.cases) {
      const std::size_t i = dice.pick(c.size());
      const Whole at = point_about(dice, c[i], c[dice.pick(c.size())], random.whole.reach);
      const dvec2 p = scaled(at, random.scale);
      const Location location = locate_by_winding(c, at);
      const ZoneDistance d = random.zone.distance(p);
      const double expected = outline_distance(random.zone.outline(), p);
      wrong += random.zone.contains(p) != (location != Location::Outside);
      wrong += std::abs(d.distance - (location == Location::Inside ? -expected : expected)) > 1e-14 || d.on_tool != p;
      wrong += std::abs(glm::length(d.on_zone - p) - expected) > 1e-14;
      tally.degenerate += location == Location::Boundary;
      inside += location == Location::Inside;
    }
  }
  std::printf("    %ld inside\n", inside);
  EXPECT_EQ(wrong, 0);
}

TEST(PlanarZone, ShaftDistanceAgreesWithSampling) {
  Dice dice(25);
  Tally tally{"shaft to zone"};
  int wrong = 0;
  long inside = 0;
  while (tally.cases < kCases / 10) {
    const RandomZone random = random_zone(dice);
    const std::vector<Whole>& c = random.whole.corners;
    const Corners outline = random.zone.outline();
    for (int k = 0; k < 50; ++k, ++tally.cases) {
      const auto end = [&] {
        return point_about(dice, c[dice.pick(c.size())], c[dice.pick(c.size())], random.whole.reach);
      };
      const Segment shaft{scaled(end(), random.scale), scaled(end(), random.scale)};
      const ZoneDistance d = random.zone.distance(shaft);
      double exact = 1e300;  // valid when the shaft is outside
      for (std::size_t i = 0; i < c.size(); ++i)
        exact = std::min(exact, distance(shaft, Segment{outline[i], outline[(i + 1) % c.size()]}));
      if (exact > 0.0 && locate_in_polygon(outline, shaft.a) == Location::Outside) {
        wrong += std::abs(d.distance - exact) > 1e-14;
      } else {
        // No sample is deeper than the reported depth, and the reported point has that depth.
        constexpr int kSamples = 40;
        double deepest = 0.0;
        for (int s = 0; s <= kSamples; ++s)
          deepest = std::min(deepest, signed_twin(outline, point_at(shaft, s / double(kSamples))));
        wrong += d.distance > deepest + kDepthTolerance || d.distance > 0.0;
        wrong += d.distance < deepest - 0.5 * glm::length(shaft.b - shaft.a) / kSamples - 1e-12;
        wrong += std::abs(signed_twin(outline, d.on_tool) - d.distance) > 1e-12;
        ++inside;
      }
      wrong += distance(shaft, d.on_tool) > 1e-14 || outline_distance(outline, d.on_zone) > 1e-14;
      wrong += std::abs(glm::length(d.on_tool - d.on_zone) - std::abs(d.distance)) > 1e-14;
      tally.degenerate += shaft.a == shaft.b || exact == 0.0;
    }
  }
  std::printf("    %ld inside\n", inside);
  EXPECT_EQ(wrong, 0);
}

TEST(PlanarZone, HandMadeCases) {
  // A U: the notch between its arms is outside.
  const std::vector<dvec2> u{{-0.5, -0.5}, {0.5, -0.5},  {0.5, 0.5},  {0.3, 0.5},
                             {0.3, -0.1},  {-0.3, -0.1}, {-0.3, 0.5}, {-0.5, 0.5}};
  const Zone zone(u, ZoneKind::Safe);
  EXPECT_NEAR(zone.distance(dvec2(0.0, 0.2)).distance, 0.3, 1e-15);
  EXPECT_NEAR(zone.distance(dvec2(0.0, -0.3)).distance, -0.2, 1e-15);
  EXPECT_NEAR(zone.distance(Segment{{0.0, 0.9}, {0.0, 0.1}}).distance, 0.2, 1e-15);
  EXPECT_NEAR(zone.distance(Segment{{-0.9, -0.3}, {0.9, -0.3}}).distance, -0.2, 1e-6);
  EXPECT_EQ(zone.distance(Segment{{0.5, -1.0}, {0.5, 1.0}}).distance, 0.0);  // along a side
  EXPECT_THROW(Zone(std::vector<dvec2>{{0.0, 0.0}, {1.0, 1.0}}, ZoneKind::Safe), InputError);
}

TEST(PlanarZone, DoesNotAllocatePerFrame) {
  Dice dice(26);
  const RandomZone random = random_zone(dice);
  const std::uint64_t before = allocations_so_far();
  double sum = 0.0;
  for (int i = 0; i < 1000; ++i) {
    const dvec2 a(dice.uniform(-1.0, 1.0), dice.uniform(-1.0, 1.0)),
        b(dice.uniform(-1.0, 1.0), dice.uniform(-1.0, 1.0));
    sum += random.zone.distance(a).distance + random.zone.distance(Segment{a, b}).distance;
  }
  EXPECT_EQ(allocations_so_far(), before);
  EXPECT_TRUE(std::isfinite(sum));
}

// Returns a 60 degree endoscope 10 cm above the origin, looking down -y with +z up in the image.
ImageCamera endoscope(double aspect) {
  const glm::dmat4 view = glm::lookAt(glm::dvec3(0.0, 0.1, 0.0), glm::dvec3(0.0), glm::dvec3(0.0, 0.0, 1.0));
  return {glm::perspective(glm::radians(60.0), aspect, 0.005, 1.0) * view, aspect};
}

TEST(PlanarZone, ProjectsByTheTangentOfTheAngle) {
  const ImageCamera camera = endoscope(16.0 / 9.0);
  const ImageTool tool = project_tool(camera, {0.0, 0.0, 0.0}, {0.02, 0.05, 0.01});
  ASSERT_TRUE(tool.visible && tool.tip_visible);
  const double half = std::tan(glm::radians(30.0));
  EXPECT_NEAR(tool.shaft.a.x, 0.0, 1e-15);
  EXPECT_NEAR(tool.shaft.a.y, 0.0, 1e-15);
  // Looking down -y with +z up, +x is to the left.
  EXPECT_NEAR(tool.shaft.b.x, -0.02 / 0.05 / half, 1e-12);
  EXPECT_NEAR(tool.shaft.b.y, 0.01 / 0.05 / half, 1e-12);
  // A length is the same on both axes for every shape of the image.
  const ImageTool square = project_tool(endoscope(1.0), {0.0, 0.0, 0.0}, {0.02, 0.05, 0.01});
  EXPECT_NEAR(square.shaft.b.x, tool.shaft.b.x, 1e-12);
}

// A shaft that comes from behind the camera: every visible point of it projects onto the cut segment, none beside it.
TEST(PlanarZone, ShaftFromBehindTheCameraIsCutAtTheNearPlane) {
  const ImageCamera camera = endoscope(1.5);
  Dice dice(27);
  int cut = 0, behind = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto random_point = [&] {
      return glm::dvec3(dice.uniform(-0.1, 0.1), dice.uniform(-0.1, 0.3), dice.uniform(-0.1, 0.1));
    };
    const glm::dvec3 pivot = random_point(), tip = random_point();
    const ImageTool tool = project_tool(camera, pivot, tip);
    const auto in_front = [](const glm::dvec3& p) { return 0.1 - p.y >= 0.005; };
    ASSERT_EQ(tool.visible, in_front(pivot) || in_front(tip));
    if (!tool.visible) {
      ++behind;
      continue;
    }
    ASSERT_EQ(tool.tip_visible, in_front(tip));
    cut += !in_front(pivot) || !in_front(tip);
    const double size = 1.0 + glm::length(tool.shaft.a) + glm::length(tool.shaft.b);
    for (int s = 0; s <= 20; ++s) {
      const glm::dvec3 p = glm::mix(pivot, tip, s / 20.0);
      if (!in_front(p)) continue;
      const glm::dvec4 clip = camera.view_projection * glm::dvec4(p, 1.0);
      const dvec2 image(camera.aspect * clip.x / clip.w, clip.y / clip.w);
      ASSERT_LE(distance(tool.shaft, image), 1e-12 * size);
    }
  }
  std::printf("    %d cut at the near plane, %d entirely behind it\n", cut, behind);
  EXPECT_GT(cut, 3000);
}

TEST(PlanarZone, NonFinitePoseIsNotVisible) {
  const ImageCamera camera = endoscope(1.0);
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (int axis = 0; axis < 3; ++axis) {
      glm::dvec3 broken(0.0);
      broken[axis] = bad;
      EXPECT_FALSE(project_tool(camera, broken, glm::dvec3(0.01)).visible);
      EXPECT_FALSE(project_tool(camera, glm::dvec3(0.01), broken).visible);
      EXPECT_FALSE(project_tool(camera, glm::dvec3(0.01), -broken).visible);
    }
  }
}

// Tests a complete frame: a pose moves into a forbidden zone, and the distance changes sign where the tip crosses.
TEST(PlanarZone, ToolEntersZone) {
  const ImageCamera camera = endoscope(16.0 / 9.0);
  const double half = std::tan(glm::radians(30.0)), edge = 0.02 / 0.1 / half;  // of x = -0.02 m at 0.1 m depth
  const Zone zone(std::vector<dvec2>{{edge, -0.4}, {edge + 0.6, -0.4}, {edge + 0.6, 0.4}, {edge, 0.4}},
                  ZoneKind::Forbidden);
  for (int mm = 0; mm <= 30; ++mm) {
    const ImageTool tool = project_tool(camera, {0.04, 0.0, 0.0}, {-0.001 * mm, 0.0, 0.0});
    const ZoneDistance d = zone.distance(tool.shaft);
    const double past = (0.001 * mm - 0.02) / 0.1 / half;  // distance of the tip beyond the edge
    EXPECT_NEAR(d.distance, -past, 2e-6) << mm << " mm";
  }
}

}  // namespace

}  // namespace trocar::planar
