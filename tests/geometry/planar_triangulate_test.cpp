// Tests ear clipping and the convex partition on random simple polygons. The directed sides of all triangles add up to
// the outline. So if all triangles are counter-clockwise, they cover each point exactly as often as the outline winds
// around it: once. This is checked in whole numbers, and by points.
#include "geometry/planar/polygon.hpp"

#include <gtest/gtest.h>

#include <map>

#include "geometry/error.hpp"
#include "study/planar/convex_scan.hpp"
#include "tests/geometry/planar_polygons.hpp"

namespace trocar::planar {
namespace {

using namespace test;

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

}  // namespace
}  // namespace trocar::planar
