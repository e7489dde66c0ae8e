// Compares point in polygon, area and the loaders' checks with tests in integers: winding along the other axis, all
// pairs of sides.
#include "geometry/planar/polygon.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/geometry/planar_polygons.hpp"

namespace trocar::planar {
namespace {

using namespace test;

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

}  // namespace
}  // namespace trocar::planar
