// Tests that every method finds the pairs of brute force, frame after frame, and that none allocates after a warm-up.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "cpu_collision/broad_phase/sweep_and_prune.hpp"
#include "study/broad_phase/broad_phase.hpp"
#include "tests/cpu_collision/broad_phase_support.hpp"
#include "tests/support/allocation_counter.hpp"

namespace trocar::broad {
namespace {

using Pairs = std::vector<Pair>;

Pairs listed(std::span<const Pair> pairs) { return {pairs.begin(), pairs.end()}; }

Pairs without(const Pairs& all, const Pairs& less) {
  Pairs difference;
  std::set_difference(all.begin(), all.end(), less.begin(), less.end(), std::back_inserter(difference));
  return difference;
}

GridAxes unbounded(double cell) {
  GridAxes axes;
  for (GridAxis& axis : axes) axis.cell = cell;
  return axes;
}

// The same boxes in every method.
struct Methods {
  SweepAndPrune by_status{{.status_limit = 4096}}, by_boxes{{.status_limit = 0}}, usual;
  UniformGrid fine{unbounded(0.05)}, coarse{unbounded(0.7)};
  PlaneCache planes;
  std::array<std::span<const Pair>, 3> others;  // pairs of the grids and of the planes
  Pairs brute;

  explicit Methods(std::span<const Box> boxes) {
    for (SweepAndPrune* sweep : sweeps())
      for (const Box& box : boxes) sweep->add(box);
  }
  std::array<SweepAndPrune*, 3> sweeps() { return {&by_status, &by_boxes, &usual}; }

  void update(std::span<const Box> boxes) {
    brute_force_pairs(boxes, brute);
    for (SweepAndPrune* sweep : sweeps()) {
      for (std::uint32_t k = 0; k < boxes.size(); ++k) sweep->set(ObjectId(k), boxes[k]);
      sweep->update();
    }
    others = {fine.pairs(boxes), coarse.pairs(boxes), planes.pairs(boxes)};
  }
};

void expect_all_agree(Methods& methods, const Pairs& before) {
  for (const SweepAndPrune* sweep : methods.sweeps()) {
    ASSERT_EQ(listed(sweep->pairs()), methods.brute);
    ASSERT_EQ(listed(sweep->begun()), without(methods.brute, before));
    ASSERT_EQ(listed(sweep->ended()), without(before, methods.brute));
  }
  for (const std::span<const Pair> found : methods.others) ASSERT_EQ(listed(found), methods.brute);
}

class BroadPhase : public ::testing::TestWithParam<std::size_t> {};

TEST_P(BroadPhase, AllMethodsAgreeForAThousandFrames) {
  const auto seed = static_cast<std::uint32_t>(1000 + GetParam());
  test::MovingBoxes moving(seed, GetParam());
  Methods methods(moving.boxes());
  std::size_t pairs = 0, inserted = 0;
  for (int frame = 0; frame < 1000; ++frame) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << " frame " << frame);
    const Pairs before = frame == 0 ? Pairs{} : methods.brute;
    methods.update(moving.boxes());
    expect_all_agree(methods, before);
    if (HasFatalFailure()) return;
    pairs += methods.brute.size();
    inserted += !methods.by_boxes.counters().swept_afresh;
    moving.frame(frame % 200 < 150);
  }
  std::printf("seed %u: %zu objects, %.1f pairs a frame, %zu frames by insertion\n", seed, GetParam(),
              double(pairs) / 1000.0, inserted);
  EXPECT_GT(inserted, 100u);
}

INSTANTIATE_TEST_SUITE_P(Objects, BroadPhase, ::testing::Values(2, 3, 5, 20, 63, 100, 250, 500));

TEST(BroadPhaseEmpty, FewerThanTwoBoxesMakeNoPairs) {
  SweepAndPrune sweep;
  sweep.update();
  EXPECT_TRUE(sweep.pairs().empty());
  sweep.add(cube(glm::vec3(0.f), 1.f));
  sweep.update();
  EXPECT_TRUE(sweep.pairs().empty());
  EXPECT_TRUE(UniformGrid(unbounded(1.0)).pairs({}).empty());
  EXPECT_TRUE(PlaneCache().pairs({}).empty());
}

// In the first round every buffer grows to its largest size.
TEST(BroadPhaseAllocation, NoneAfterWarmUp) {
  constexpr std::size_t kObjects = 200;
  test::MovingBoxes moving(7, kObjects);
  std::vector<std::vector<Box>> frames;
  for (int frame = 0; frame < 200; ++frame) {
    frames.push_back(moving.boxes());
    moving.frame(frame % 2 == 0);
  }
  Methods methods(frames.front());
  for (const auto& boxes : frames) methods.update(boxes);
  const std::uint64_t before = allocations_so_far();
  for (const auto& boxes : frames) methods.update(boxes);
  EXPECT_EQ(allocations_so_far() - before, 0u);
}

}  // namespace
}  // namespace trocar::broad
