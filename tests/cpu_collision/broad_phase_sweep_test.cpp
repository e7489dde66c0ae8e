// Tests sweep and prune while objects are added and removed, and its counters.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "cpu_collision/broad_phase/sweep_and_prune.hpp"
#include "tests/cpu_collision/broad_phase_support.hpp"

namespace trocar::broad {
namespace {

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

}  // namespace
}  // namespace trocar::broad
