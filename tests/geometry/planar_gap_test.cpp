// Compares intersection and distance of two convex polygons with all pairs of sides, and with the linear merge for
// large ones. Points and segments are tested as polygons of one and two corners.
#include "geometry/planar/convex_polygon.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "study/planar/convex_scan.hpp"
#include "tests/geometry/planar_polygons.hpp"

namespace trocar::planar {
namespace {

using namespace test;

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
