// Tests sweep and prune while objects are added and removed, and its counters.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "cpu_collision/broad_phase/box.hpp"
#include "cpu_collision/broad_phase/sweep_and_prune.hpp"
#include "tests/cpu_collision/broad_phase_support.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar::broad {
namespace {

// Tests boxes: closed and empty ones, rounding outwards, and cubes that contain an object in every orientation.

TEST(BroadPhaseBox, TouchingOverlaps) {
  const Box unit{{0, 0, 0}, {1, 1, 1}};
  EXPECT_TRUE(overlap(unit, {{1, 0, 0}, {2, 1, 1}}));
  EXPECT_TRUE(overlap(unit, {{1, 1, 1}, {1, 1, 1}}));
  EXPECT_FALSE(overlap(unit, {{std::nextafter(1.f, 2.f), 0, 0}, {2, 1, 1}}));
  EXPECT_TRUE(overlap({{-1, 0, 0}, {-0.f, 1, 1}}, {{0.f, 0, 0}, {1, 1, 1}}));
}

TEST(BroadPhaseBox, EmptyBoxesOverlapNothing) {
  const Box everything{glm::vec3(-INFINITY), glm::vec3(INFINITY)};
  const Box inverted{{0, 1, 0}, {1, 0, 1}}, unknown{{0, std::nanf(""), 0}, {1, 1, 1}};
  for (const Box& box : {Box{}, inverted, unknown, cube(glm::vec3(0.f), -1.f), cube(glm::vec3(std::nanf("")), 1.f)}) {
    EXPECT_TRUE(empty(box));
    EXPECT_FALSE(overlap(box, everything));
    EXPECT_FALSE(overlap(box, box));
  }
  EXPECT_FALSE(empty(everything));
  EXPECT_FALSE(empty(cube(glm::vec3(2.f), 0.f)));
}

TEST(BroadPhaseBox, OfPoints) {
  const glm::vec3 points[] = {{1, 5, -2}, {0, 7, 3}, {0.5f, 6, 9}};
  const Box box = box_of(points);
  EXPECT_EQ(box.low, glm::vec3(0, 5, -2));
  EXPECT_EQ(box.high, glm::vec3(1, 7, 9));
  EXPECT_TRUE(empty(box_of({})));
  const glm::vec3 faulty[] = {{1, 5, -2}, {0, std::nanf(""), 3}, {1, 1, 1}};
  EXPECT_TRUE(empty(box_of(faulty)));
  EXPECT_EQ(united({}, box).low, box.low);
  EXPECT_EQ(united(box, {}).high, box.high);
  EXPECT_EQ(united(box, cube(glm::vec3(0.f), 1.f)).low, glm::vec3(-1, -1, -2));
}

TEST(BroadPhaseBox, RoundsOutwards) {
  constexpr std::uint32_t kSeed = 11;
  test::Dice dice(kSeed);
  for (int k = 0; k < 10000; ++k) {
    const glm::dvec3 low = dice.in_cube(1.0), high = low + glm::abs(dice.in_cube(dice.log_uniform(1e-12, 1.0)));
    const Box box = box_around(low, high);
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_LE(double(box.low[axis]), low[axis]) << "seed " << kSeed;
      EXPECT_GE(double(box.high[axis]), high[axis]) << "seed " << kSeed;
      EXPECT_GT(double(box.low[axis]), low[axis] - 1.2e-7);
    }
  }
  const Box exact = box_around({0.5, -2.0, 0.0}, {0.75, 4.0, 0.0});
  EXPECT_EQ(exact.low, glm::vec3(0.5f, -2.f, 0.f));
  EXPECT_EQ(exact.high, glm::vec3(0.75f, 4.f, 0.f));
}

// The fixed cube is larger than the dynamic box and contains the object in every orientation.
TEST(BroadPhaseBox, CubeContainsEveryOrientation) {
  test::Dice dice(12);
  std::vector<glm::dvec3> points(20);
  double radius = 0.0;
  for (glm::dvec3& p : points) p = dice.in_cube(0.1), radius = std::max(radius, glm::length(p));
  for (int k = 0; k < 200; ++k) {
    const glm::dvec3 axis = dice.direction(), side = dice.across(axis), up = glm::cross(axis, side);
    std::vector<glm::vec3> turned;
    for (const glm::dvec3& p : points) turned.push_back(glm::vec3(p.x * axis + p.y * side + p.z * up));
    const Box box = box_of(turned), fixed = cube(glm::vec3(0.f), float(radius) * 1.0001f);
    for (int i = 0; i < 3; ++i) {
      EXPECT_GE(box.low[i], fixed.low[i]);
      EXPECT_LE(box.high[i], fixed.high[i]);
    }
  }
}

using Named = std::set<std::pair<int, int>>;  // pairs of the test's own names

// Objects under the test's own names, since ids are reused.
struct Registry {
  SweepAndPrune sweep;
  std::map<int, std::pair<ObjectId, Box>> living;
  std::map<ObjectId, int> name_of;  // the latest object with the id
  int next_name = 0;

  void add(const Box& box) {
    const ObjectId id = sweep.add(box);
    living[next_name] = {id, box};
    name_of[id] = next_name++;
  }
  void remove(int name) {
    sweep.remove(living.at(name).first);
    living.erase(name);
  }
  void set(int name, const Box& box) {
    living.at(name).second = box;
    sweep.set(living.at(name).first, box);
  }
  Named named(std::span<const Pair> pairs) const {
    Named names;
    for (const Pair& pair : pairs) names.insert(std::minmax({name_of.at(pair.first), name_of.at(pair.second)}));
    return names;
  }
  Named brute() const {
    Named names;
    for (const auto& [a, of_a] : living)
      for (const auto& [b, of_b] : living)
        if (a < b && overlap(of_a.second, of_b.second)) names.insert({a, b});
    return names;
  }
};

Named without(const Named& all, const Named& less) {
  Named difference;
  std::set_difference(all.begin(), all.end(), less.begin(), less.end(), std::inserter(difference, difference.end()));
  return difference;
}

class ComeAndGo : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(ComeAndGo, PairsMatchBruteForce) {
  constexpr std::uint32_t kSeed = 21;
  test::Dice dice(kSeed);
  Registry registry{SweepAndPrune({.status_limit = GetParam()}), {}, {}};
  const auto random_box = [&] { return cube(glm::vec3(dice.in_cube(0.5)), float(dice.uniform(0.0, 0.2))); };
  Named before;
  for (int frame = 0; frame < 600; ++frame) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << " frame " << frame);
    const int most = frame % 100 < 50 ? 60 : 10;
    for (int k = dice.pick(8); k > 0 && int(registry.living.size()) < most; --k) registry.add(random_box());
    for (int k = dice.pick(8); k > 0 && registry.living.size() > 1; --k)
      registry.remove(std::next(registry.living.begin(), dice.pick(int(registry.living.size())))->first);
    for (auto& [name, object] : registry.living)
      if (dice.pick(3) == 0) registry.set(name, random_box());
    registry.sweep.update();
    const Named now = registry.brute();
    ASSERT_EQ(registry.named(registry.sweep.pairs()), now);
    ASSERT_EQ(registry.sweep.pairs().size(), now.size());
    ASSERT_TRUE(std::is_sorted(registry.sweep.pairs().begin(), registry.sweep.pairs().end()));
    ASSERT_EQ(registry.named(registry.sweep.begun()), without(now, before));
    ASSERT_EQ(registry.named(registry.sweep.ended()), without(before, now));
    ASSERT_EQ(registry.sweep.size(), registry.living.size());
    before = now;
  }
}

// Statuses always, never, and until the number of objects exceeds the limit.
INSTANTIATE_TEST_SUITE_P(StatusLimit, ComeAndGo, ::testing::Values(4096u, 0u, 40u));

TEST(SweepAndPrune, BeginsAndEndsOnce) {
  SweepAndPrune sweep;
  const ObjectId still = sweep.add({{0, 0, 0}, {1, 1, 1}}), mover = sweep.add(cube({3, 0.5f, 0.5f}, 0.5f));
  std::vector<int> counts;
  for (const float x : {3.f, 1.5f, 1.f, 0.f, -0.5f, std::nextafter(-0.5f, -1.f), -3.f}) {
    sweep.set(mover, cube({x, 0.5f, 0.5f}, 0.5f));
    sweep.update();
    EXPECT_EQ(sweep.overlapping(still, mover), !sweep.pairs().empty());
    counts.push_back(int(sweep.begun().size()) - int(sweep.ended().size()));
  }
  EXPECT_EQ(counts, (std::vector<int>{0, 1, 0, 0, 0, -1, 0}));
}

// An object that flies past another within one frame makes no pair: the boxes of one frame never overlap on all axes.
TEST(SweepAndPrune, PassingOnDifferentAxesMakesNoPair) {
  for (const std::uint32_t limit : {0u, 100u}) {
    SweepAndPrune sweep({.status_limit = limit});
    sweep.add({{0, 0, 0}, {1, 1, 1}});
    const ObjectId mover = sweep.add({{2, 0, 0}, {3, 1, 1}});
    sweep.update();
    sweep.set(mover, {{0, 2, 0}, {1, 3, 1}});
    sweep.update();
    EXPECT_TRUE(sweep.begun().empty());
    EXPECT_TRUE(sweep.ended().empty());
    EXPECT_GT(sweep.counters().status_swaps, 0u);
  }
}

TEST(SweepAndPrune, SwapsOnlyPassingEnds) {
  SweepAndPrune sweep;
  std::vector<ObjectId> ids;
  for (int k = 0; k < 1000; ++k) ids.push_back(sweep.add(cube({float(k), 0.f, 0.f}, 0.25f)));
  sweep.update();
  EXPECT_TRUE(sweep.counters().swept_afresh);
  sweep.update();
  EXPECT_EQ(sweep.counters().swaps, 0u);
  sweep.set(ids[500], cube({500.6f, 0.f, 0.f}, 0.25f));
  sweep.update();
  EXPECT_EQ(sweep.counters().swaps, 1u);
  EXPECT_EQ(sweep.counters().status_swaps, 1u);
  ASSERT_EQ(sweep.begun().size(), 1u);
  EXPECT_EQ(sweep.begun()[0], (Pair{ids[500], ids[501]}));
}

// Tests ties, which are ordered low before high, then by id: the same scene gives the same lists, independent of the
// frames before.
TEST(SweepAndPrune, TheSameBoxesGiveTheSameAnswer) {
  test::MovingBoxes first(31, 80), second(32, 80);
  SweepAndPrune a, b;
  for (std::size_t k = 0; k < 80; ++k) a.add(first.boxes()[k]), b.add(second.boxes()[k]);
  for (int frame = 0; frame < 50; ++frame) {
    a.update(), b.update();
    first.frame(true), second.frame(true);
    for (std::uint32_t k = 0; k < 80; ++k) a.set(ObjectId(k), first.boxes()[k]), b.set(ObjectId(k), second.boxes()[k]);
  }
  for (std::uint32_t k = 0; k < 80; ++k) b.set(ObjectId(k), first.boxes()[k]);
  a.update(), b.update();
  EXPECT_TRUE(std::ranges::equal(a.pairs(), b.pairs()));
}

// Pins the cost of sweep and prune on a fixed motion: swaps, box tests and full sorts of every kind of frame. Faults of
// the swap budget and of the pauses cost time and change no pair.

constexpr std::uint32_t kSeed = 55;
constexpr int kFrames = 120;

struct Cost {
  std::uint64_t swaps = 0, status_swaps = 0, box_tests = 0, pairs = 0, changes = 0;
  std::uint64_t afresh = 0;  // weighted by the frame's number
  bool operator==(const Cost&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Cost& c) {
  return out << "{" << c.swaps << ", " << c.status_swaps << ", " << c.box_tests << ", " << c.pairs << ", " << c.changes
             << ", " << c.afresh << "}";
}

// 150 boxes that move steadily. In frames 20 to 49 more and more of them jump; from frame 80 on a few are empty.
Cost cost_of(std::uint32_t status_limit) {
  test::Dice dice(kSeed);
  SweepAndPrune sweep({.status_limit = status_limit});
  struct Body {
    ObjectId id;
    glm::dvec3 at, motion;
    float half;
  };
  std::vector<Body> bodies;
  for (int k = 0; k < 150; ++k) {
    Body body{{}, dice.in_cube(0.5), dice.in_cube(0.004), static_cast<float>(dice.uniform(0.01, 0.08))};
    body.id = sweep.add(cube(glm::vec3(body.at), body.half));
    bodies.push_back(body);
  }
  Cost cost;
  for (int frame = 0; frame < kFrames; ++frame) {
    for (std::size_t k = 0; k < bodies.size(); ++k) {
      Body& body = bodies[k];
      body.at += body.motion;
      if (frame >= 20 && frame < 50 && k % 31 < std::size_t(frame - 19)) body.at = dice.in_cube(0.5);
      const bool is_empty = frame >= 80 && (k + std::size_t(frame)) % 40 == 0;
      sweep.set(body.id, is_empty ? Box{} : cube(glm::vec3(body.at), body.half));
    }
    sweep.update();
    const SweepCounters& counters = sweep.counters();
    cost.swaps += counters.swaps;
    cost.status_swaps += counters.status_swaps;
    cost.box_tests += counters.box_tests;
    cost.pairs += sweep.pairs().size();
    cost.changes += sweep.begun().size() + sweep.ended().size();
    if (counters.swept_afresh) cost.afresh += std::uint64_t(frame) + 1;
  }
  return cost;
}

TEST(BroadPhaseCost, UpdatesCostThePinnedNumbers) {
  const Cost expected{86081, 44031, 141251, 8996, 4126, 5420};
  EXPECT_EQ(cost_of(4096), expected);
  EXPECT_EQ(cost_of(0), expected);
}

// One swap more than the budget of the last full sort causes a full sort; the pauses double up to 32 frames.
TEST(BroadPhaseCost, PausesDoubleUpToTheLongest) {
  test::Dice dice(kSeed + 1);
  SweepAndPrune sweep;
  std::vector<ObjectId> ids;
  for (int k = 0; k < 60; ++k) ids.push_back(sweep.add(cube(glm::vec3(dice.in_cube(0.5)), 0.02f)));
  std::vector<int> tried;  // frames with an insertion that failed
  for (int frame = 0; frame < 150; ++frame) {
    for (const ObjectId id : ids) sweep.set(id, cube(glm::vec3(dice.in_cube(0.5)), 0.02f));
    sweep.update();
    ASSERT_TRUE(sweep.counters().swept_afresh);
    if (sweep.counters().swaps > 0) tried.push_back(frame);
  }
  EXPECT_EQ(tried, (std::vector<int>{0, 1, 3, 6, 11, 20, 37, 70, 103, 136}));
}

// A status takes one byte per pair.
TEST(BroadPhaseCost, StatusTakesAByteAPair) {
  SweepAndPrune sweep, without({.status_limit = 0});
  const auto status_bytes = [&] { return sweep.memory_bytes() - without.memory_bytes(); };
  for (int k = 0; k < 64; ++k) sweep.add(cube(glm::vec3(0.f), 1.f)), without.add(cube(glm::vec3(0.f), 1.f));
  EXPECT_GE(status_bytes(), 64u * 63u / 2u);
  EXPECT_LE(status_bytes(), 64u * 63u);  // a vector doubles at most
  SweepAndPrune two({.status_limit = 2}), none({.status_limit = 1});
  for (SweepAndPrune* of : {&two, &none}) of->add(cube(glm::vec3(0.f), 1.f)), of->add(cube(glm::vec3(0.f), 1.f));
  EXPECT_EQ(two.memory_bytes(), none.memory_bytes() + 1);
}

// Infinities of one sign are bounds; only a sum that is NaN empties a box.
TEST(BroadPhaseCost, InfinitePointsMakeABox) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const glm::vec3& point : {glm::vec3(kInfinity, kInfinity, 0.f), glm::vec3(0.f, kInfinity, kInfinity),
                                 glm::vec3(kInfinity, 0.f, kInfinity), glm::vec3(-kInfinity)}) {
    const Box box = box_of(std::vector<glm::vec3>{point, glm::vec3(1.f, 2.f, 3.f)});
    EXPECT_FALSE(empty(box));
    EXPECT_EQ(box.low, glm::min(point, glm::vec3(1.f, 2.f, 3.f)));
  }
  EXPECT_TRUE(empty(box_of(std::vector<glm::vec3>{{kInfinity, -kInfinity, 0.f}})));
  EXPECT_TRUE(empty(box_of(std::vector<glm::vec3>{{0.f, kInfinity, -kInfinity}})));
}

}  // namespace
}  // namespace trocar::broad
