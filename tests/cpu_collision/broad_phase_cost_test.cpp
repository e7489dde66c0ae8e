// Pins the cost of sweep and prune on a fixed motion: swaps, box tests and full sorts of every kind of frame. Faults of
// the swap budget and of the pauses cost time and change no pair.
#include <gtest/gtest.h>

#include <limits>

#include "cpu_collision/broad_phase/sweep_and_prune.hpp"
#include "tests/geometry/random_steps.hpp"

namespace trocar::broad {
namespace {

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
