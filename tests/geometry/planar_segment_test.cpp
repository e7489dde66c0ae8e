// Compares segments with integers (intersection and its kind) and with a search along them (distance).
#include "geometry/planar/polygon.hpp"

#include <gtest/gtest.h>

#include "tests/geometry/planar_random.hpp"

namespace trocar::planar {
namespace {

using namespace test;

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

}  // namespace
}  // namespace trocar::planar
