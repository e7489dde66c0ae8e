// Tests planar geometry on integers: predicates, distances and polygons, and convex polygons with their queries.
#include <glm/gtc/matrix_transform.hpp>

#include "geometry/error.hpp"
#include "geometry/exact_sign.hpp"
#include "geometry/planar/convex_polygon.hpp"
#include "geometry/planar/polygon.hpp"
#include "geometry/planar/zone.hpp"
#include "study/planar/convex_scan.hpp"
#include "tests/geometry/planar_random.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/test.hpp"

namespace trocar::planar {
namespace {

// Compares the exact signs, segments and polygons in the plane with 128-bit integers, triangulations on random
// polygons, and zones of the image with perspective cameras and dense sampling.

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
  for (int i = 0; i < 256; ++i)
    for (int j = 0; j < 256; ++j) {
      const dvec2 p(0.5 + i * unit, 0.5 + j * unit);
      // p, b and c: the line is x == y.
      EXPECT_EQ(side_of_line(b, c, p), sign_of(j - i));
      EXPECT_EQ(side_of_line(p, b, c), sign_of(j - i));
    }
  EXPECT_EQ(side_of_line(a, a, c), 0);
  EXPECT_EQ(exact_cross_sign(a, b, a, c), 0);
}

// The same doubles, each first difference turned by a quarter: its dot product is the cross product of the original.
TEST(PlanarExact, NeighbouringDoublesDot) {
  const dvec2 b(12.0, 12.0), c(24.0, 24.0);
  const double unit = 0x1p-53;
  int wrong = 0;
  for (int i = 0; i < 256; ++i)
    for (int j = 0; j < 256; ++j) {
      const dvec2 p(0.5 + i * unit, 0.5 + j * unit);
      wrong += dot_sign(quarter_turn(b), quarter_turn(c), b, p) != sign_of(j - i);
      wrong += dot_sign(quarter_turn(p), quarter_turn(b), p, c) != sign_of(j - i);
      wrong += dot_sign(p, c, quarter_turn(p), quarter_turn(b)) != sign_of(j - i);
      wrong += dot_sign(p, p, b, c) != 0 || cross_sign(b, c, p, p) != 0;
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
  c.scale = dice.scale(), c.s = {dice.point(reach), dice.point(reach)};
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
    for (const CornerTriangle& t : triangles)
      for (int k = 0; k < 3; ++k) {
        ++sides[{t[k], t[(k + 1) % 3]}];
        --sides[{t[(k + 1) % 3], t[k]}];
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
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    for (int axis = 0; axis < 3; ++axis) {
      glm::dvec3 broken(0.0);
      broken[axis] = bad;
      EXPECT_FALSE(project_tool(camera, broken, glm::dvec3(0.01)).visible);
      EXPECT_FALSE(project_tool(camera, glm::dvec3(0.01), broken).visible);
      EXPECT_FALSE(project_tool(camera, glm::dvec3(0.01), -broken).visible);
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

// Tests convex polygons in the plane: the bimodal search on every cyclic shift of every small strictly rising and
// falling sequence, queries against scans in O(n), and gaps against all pairs of sides.

// Also counts the comparisons.
struct Found {
  std::size_t maximum, minimum;
  long comparisons;
};

Found search(const std::vector<int>& f) {
  Found found{};
  const auto compare = [&](std::size_t i, std::size_t j) { return ++found.comparisons, (f[i] > f[j]) - (f[i] < f[j]); };
  found.maximum = bimodal_maximum(f.size(), compare), found.minimum = bimodal_minimum(f.size(), compare);
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
  for (int n = 1; n <= 10; ++n)
    for (int halves = 0; halves < 1 << n; ++halves)
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
    if (hit.kind == LineMeeting::Through)
      for (const std::uint32_t s : {hit.enter_side, hit.leave_side})
        worst = std::min(worst, sine(line.b - line.a, c[(s + 1) % c.size()] - c[s]));
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
    if (hit.kind == LineMeeting::Through)
      for (const std::uint32_t s : {hit.enter_side, hit.leave_side})
        worst = std::min(worst, sine(segment.b - segment.a, c[(s + 1) % c.size()] - c[s]));
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
  const auto which = dice.pick(6);
  if (which == 0) return p - q;
  if (which == 1) return p - q + dice.point(1);
  if (which == 2) return Whole{(p.x + p2.x) / 2, (p.y + p2.y) / 2} - q + dice.point(dice.pick(2));
  if (which == 3) return dice.point(2 * reach);
  return dice.point(reach);
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
