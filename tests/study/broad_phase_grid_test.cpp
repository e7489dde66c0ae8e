// Compares the grid and its borders with brute force in the same space, and brute force with images of the boxes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "geometry/error.hpp"
#include "study/broad_phase/broad_phase.hpp"
#include "tests/cpu_collision/broad_phase_support.hpp"

namespace trocar::broad {
namespace {

using Pairs = std::vector<Pair>;

GridAxis periodic(double cell, std::int32_t cells) { return {cell, Border::Periodic, cells}; }
GridAxis bounded(double cell, std::int32_t cells) { return {cell, Border::Bounded, cells}; }
GridAxis unbounded(double cell) { return {cell, Border::Unbounded, 0}; }

Pairs listed(std::span<const Pair> pairs) { return {pairs.begin(), pairs.end()}; }

struct Space {
  const char* name;
  GridAxes axes;
};

// The spaces have a cell larger than everything, odd cell sizes with a rounded sum, a period of one or two cells, or
// far too small cells.
const Space kSpaces[] = {
    {"unbounded", {unbounded(0.1), unbounded(0.13), unbounded(0.07)}},
    {"periodic", {periodic(0.1, 10), periodic(0.125, 8), periodic(1.0 / 3.0, 3)}},
    {"mixed", {periodic(0.1, 9), bounded(0.1, 6), unbounded(0.3)}},
    {"bounded", {bounded(0.1, 10), bounded(0.2, 3), bounded(0.5, 1)}},
    {"one cell round", {periodic(1.0, 1), periodic(0.5, 2), periodic(0.3, 4)}},
    {"tiny cells", {unbounded(1e-4), periodic(1e-3, 1000), bounded(1e-4, 20)}},
    {"huge cells", {unbounded(1e6), unbounded(10.0), bounded(1e9, 4)}},
    {"period shorter than the boxes", {periodic(0.01, 5), periodic(0.1, 10), unbounded(0.1)}},
};

class Grid : public ::testing::TestWithParam<Space> {};

TEST_P(Grid, MatchesBruteForce) {
  constexpr std::uint32_t kSeed = 41;
  for (const std::size_t objects : {2, 30, 200}) {
    test::MovingBoxes moving(kSeed, objects);
    UniformGrid grid(GetParam().axes);
    Pairs brute;
    std::size_t pairs = 0;
    for (int frame = 0; frame < 250; ++frame) {
      SCOPED_TRACE(testing::Message() << "seed " << kSeed << " frame " << frame << " objects " << objects);
      brute_force_pairs(moving.boxes(), GetParam().axes, brute);
      ASSERT_EQ(listed(grid.pairs(moving.boxes())), brute);
      pairs += brute.size();
      moving.frame(frame % 100 < 70);
    }
    std::printf("%s: %zu objects, %.1f pairs a frame\n", GetParam().name, objects, double(pairs) / 250.0);
  }
}

INSTANTIATE_TEST_SUITE_P(Spaces, Grid, ::testing::ValuesIn(kSpaces), [](const auto& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

// Two boxes overlap in a periodic space when one overlaps an image of the other; lattice boxes make the images exact.
TEST(GridOverlap, MatchesOverlapWithImages) {
  constexpr std::uint32_t kSeed = 42;
  test::Dice dice(kSeed);
  const GridAxes axes{periodic(0.25, 4), periodic(0.5, 3), unbounded(1.0)};
  int overlaps = 0;
  const auto number = [&](int low, int high) { return float(low + dice.pick(high - low + 1)) / 8.f; };
  for (int k = 0; k < 20000; ++k) {
    Box boxes[2];
    for (Box& box : boxes) {
      box.low = {number(-20, 20), number(-20, 20), number(-8, 8)};
      box.high = box.low + glm::vec3(number(0, 10), number(0, 14), number(0, 6));
    }
    bool image = false;
    for (int i = -12; i <= 12; ++i)
      for (int j = -8; j <= 8; ++j) {
        const glm::vec3 by(float(i) * 1.f, float(j) * 1.5f, 0.f);
        image = image || overlap(Box{boxes[0].low + by, boxes[0].high + by}, boxes[1]);
      }
    ASSERT_EQ(overlap(boxes[0], boxes[1], axes), image) << "seed " << kSeed << " case " << k;
    overlaps += image;
  }
  EXPECT_GT(overlaps, 2000);
  EXPECT_LT(overlaps, 18000);
}

TEST(GridOverlap, WithoutPeriodicAxesMatchesPlainOverlap) {
  test::MovingBoxes moving(43, 100);
  const GridAxes axes{unbounded(0.1), bounded(0.1, 5), unbounded(0.1)};
  Pairs plain, in_space;
  for (int frame = 0; frame < 50; ++frame) {
    brute_force_pairs(moving.boxes(), plain);
    brute_force_pairs(moving.boxes(), axes, in_space);
    EXPECT_EQ(plain, in_space);
    moving.frame(true);
  }
}

// Two boxes are tested in every cell that they share; the pair is reported once.
TEST(UniformGrid, ReportsEachPairOnce) {
  UniformGrid grid({unbounded(0.1), unbounded(0.1), periodic(0.1, 4)});
  const Box boxes[] = {{{0, 0, 0}, {0.35f, 0.35f, 0.35f}}, {{0.05f, 0.05f, -0.15f}, {0.35f, 0.35f, 0.15f}}};
  EXPECT_EQ(grid.pairs(boxes).size(), 1u);
  EXPECT_GT(grid.counters().box_tests, 10u);
}

// A box across the border of a periodic axis meets boxes on the other side.
TEST(UniformGrid, CrossesThePeriodicBorder) {
  UniformGrid grid({periodic(0.25, 4), unbounded(1.0), unbounded(1.0)});
  const auto at = [](float x) { return cube({x, 0.5f, 0.5f}, 0.05f); };
  const Box boxes[] = {at(0.98f), at(0.02f), at(0.5f), at(-3.98f), at(7.03f)};
  const Pairs expected = {{ObjectId(0), ObjectId(1)}, {ObjectId(0), ObjectId(3)}, {ObjectId(0), ObjectId(4)},
                          {ObjectId(1), ObjectId(3)}, {ObjectId(1), ObjectId(4)}, {ObjectId(3), ObjectId(4)}};
  EXPECT_EQ(listed(grid.pairs(boxes)), expected);
}

TEST(UniformGrid, ManyCellsDoNotMeanManyEntries) {
  UniformGrid grid({unbounded(1e-6), unbounded(1e-6), unbounded(1e-6)});
  const Box boxes[] = {cube(glm::vec3(0.f), 1.f), cube(glm::vec3(0.5f), 1.f), cube(glm::vec3(0.5f), 0.f)};
  EXPECT_EQ(grid.pairs(boxes).size(), 3u);
  EXPECT_EQ(grid.counters().oversize, 2u);
  EXPECT_EQ(grid.counters().entries, 1u);
}

TEST(UniformGrid, RejectsDegenerateCells) {
  for (const double cell : {0.0, -1.0, std::nan(""), double(INFINITY)})
    EXPECT_THROW(UniformGrid({unbounded(cell), unbounded(1.0), unbounded(1.0)}), InputError);
  EXPECT_THROW(UniformGrid({unbounded(1.0), periodic(1.0, 0), unbounded(1.0)}), InputError);
  EXPECT_THROW(UniformGrid({unbounded(1.0), unbounded(1.0), bounded(1.0, kMostGridCells + 1)}), InputError);
  EXPECT_NO_THROW(UniformGrid({unbounded(1.0), periodic(1.0, 1), bounded(1.0, kMostGridCells)}));
}

}  // namespace
}  // namespace trocar::broad
