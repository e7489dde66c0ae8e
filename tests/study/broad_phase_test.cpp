// Tests that every method finds the pairs of brute force, frame after frame, and that none allocates after a warm-up.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "cpu_collision/broad_phase/sweep_and_prune.hpp"
#include "geometry/error.hpp"
#include "study/broad_phase/broad_phase.hpp"
#include "tests/cpu_collision/broad_phase_support.hpp"
#include "tests/support/allocation_counter.hpp"

namespace trocar::broad {
namespace {

// Compares the grid and its borders with brute force in the same space, and brute force with images of the boxes.

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

// Compares times of impact of moving spheres with small time steps, and the order of collisions with its definition.

MovingSphere random_sphere(test::Dice& dice) {
  const double motion = dice.pick(10) == 0 ? 0.0 : dice.log_uniform(1e-3, 1.0);
  return {dice.in_cube(0.3), dice.in_cube(motion), dice.pick(8) == 0 ? 0.0 : dice.uniform(0.01, 0.2)};
}

double gap_at(const MovingSphere& a, const MovingSphere& b, double t) {
  return glm::distance(a.centre + t * a.motion, b.centre + t * b.motion) - a.radius - b.radius;
}

TEST(SphereImpact, FindsTheFirstTouch) {
  constexpr std::uint32_t kSeed = 51;
  constexpr int kSteps = 200;
  test::Dice dice(kSeed);
  int hits = 0;
  for (int k = 0; k < 20000; ++k) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << " case " << k);
    const MovingSphere a = random_sphere(dice), b = random_sphere(dice);
    const auto time = sphere_impact(a, b);
    EXPECT_EQ(time, sphere_impact(b, a));
    const double until = time.value_or(1.0);
    double nearest = gap_at(a, b, 0.0);
    for (int i = 0; i <= kSteps; ++i) nearest = std::min(nearest, gap_at(a, b, until * i / kSteps));
    ASSERT_GE(nearest, time ? std::min(gap_at(a, b, 0.0), -1e-12) : -1e-12);
    if (!time) continue;
    ++hits;
    ASSERT_GE(*time, 0.0);
    ASSERT_LE(*time, 1.0);
    if (*time > 0.0) {
      ASSERT_NEAR(gap_at(a, b, *time), 0.0, 1e-12);
    } else {
      ASSERT_LE(gap_at(a, b, 0.0), 0.0);
    }
  }
  std::printf("%d of 20000 spheres meet\n", hits);
  EXPECT_GT(hits, 1000);
}

TEST(SphereImpact, Degenerate) {
  const MovingSphere still{{0, 0, 0}, {0, 0, 0}, 1.0}, point{{0, 0, 0}, {0, 0, 0}, 0.0};
  EXPECT_EQ(sphere_impact(still, still), 0.0);
  EXPECT_EQ(sphere_impact(point, point), 0.0);
  EXPECT_EQ(sphere_impact(still, {{2, 0, 0}, {0, 0, 0}, 1.0}), 0.0);             // touching
  EXPECT_EQ(sphere_impact(still, {{2.5, 0, 0}, {0, 0, 0}, 1.0}), std::nullopt);  // at rest
  EXPECT_EQ(sphere_impact(still, {{3, 0, 0}, {-1, 0, 0}, 1.0}), 1.0);            // at the very end
  EXPECT_EQ(sphere_impact(still, {{3, 0, 0}, {1, 0, 0}, 1.0}), std::nullopt);    // away
  EXPECT_EQ(sphere_impact(still, {{3, 2, 0}, {-6, 0, 0}, 1.0}), 0.5);            // grazing
  EXPECT_EQ(sphere_impact(still, {{std::nan(""), 0, 0}, {0, 0, 0}, 1.0}), std::nullopt);
  EXPECT_EQ(sphere_impact(still, {{3, 0, 0}, {std::nan(""), 0, 0}, 1.0}), std::nullopt);
  EXPECT_EQ(sphere_impact({{0, 0, 0}, {1e-300, 0, 0}, 1.0}, {{3, 0, 0}, {0, 0, 0}, 1.0}), std::nullopt);
}

TEST(SphereImpact, ThroughThePeriodicBorder) {
  GridAxes axes;
  axes[0] = {0.25, Border::Periodic, 4};
  const MovingSphere a{{0.9, 0, 0}, {0.1, 0, 0}, 0.05}, b{{0.2, 0, 0}, {-0.1, 0, 0}, 0.05};
  EXPECT_EQ(sphere_impact(a, b), std::nullopt);
  ASSERT_TRUE(sphere_impact(a, b, axes));
  EXPECT_NEAR(*sphere_impact(a, b, axes), 1.0, 1e-12);
  // Compares the impact with that of every image, moved explicitly.
  test::Dice dice(52);
  for (int k = 0; k < 5000; ++k) {
    const MovingSphere p{dice.in_cube(3.0), dice.in_cube(0.3), 0.1}, q{dice.in_cube(3.0), dice.in_cube(0.3), 0.1};
    std::optional<double> first;
    for (int i = -8; i <= 8; ++i) {
      MovingSphere image = q;
      image.centre.x += i;
      const auto time = sphere_impact(p, image);
      if (time && (!first || *time < *first)) first = time;
    }
    const auto found = sphere_impact(p, q, axes);
    ASSERT_EQ(found.has_value(), first.has_value()) << k;
    if (!found) continue;
    ASSERT_NEAR(*found, *first, 1e-9);
  }
}

// For moving spheres, the candidates of the grid give the same collisions as all pairs, and no object is hit twice.
TEST(CollisionOrder, FirstPerObject) {
  constexpr std::uint32_t kSeed = 53;
  constexpr std::size_t kSpheres = 300;
  test::Dice dice(kSeed);
  CollisionOrder order, by_all;
  std::size_t kept = 0, hits = 0;
  for (int round = 0; round < 50; ++round) {
    std::vector<MovingSphere> spheres(kSpheres);
    std::vector<Box> boxes;
    for (MovingSphere& sphere : spheres) {
      sphere = {dice.in_cube(0.5), dice.in_cube(0.05), 0.02};
      boxes.push_back(swept_box(sphere));
    }
    const auto impact = [&](ObjectId a, ObjectId b) { return sphere_impact(spheres[index(a)], spheres[index(b)]); };
    std::vector<Pair> everyone;
    for (std::uint32_t i = 0; i < kSpheres; ++i)
      for (std::uint32_t j = i + 1; j < kSpheres; ++j) everyone.push_back({ObjectId(i), ObjectId(j)});
    GridAxes axes;
    for (GridAxis& axis : axes) axis.cell = 0.1;
    UniformGrid grid(axes);
    const auto found = order.first_collisions(grid.pairs(boxes), kSpheres, impact);
    const auto all = by_all.first_collisions(everyone, kSpheres, impact);
    ASSERT_EQ(order.all().size(), by_all.all().size()) << "seed " << kSeed;
    ASSERT_EQ(found.size(), all.size());
    std::vector<double> first_time(kSpheres, 2.0);
    for (std::size_t k = 0; k < found.size(); ++k) {
      EXPECT_EQ(found[k].pair, all[k].pair);
      EXPECT_EQ(found[k].time, all[k].time);
      for (const ObjectId object : {found[k].pair.first, found[k].pair.second}) {
        EXPECT_EQ(first_time[index(object)], 2.0) << "hit twice";
        first_time[index(object)] = found[k].time;
      }
    }
    // A collision is omitted only if one of its objects has one that is no later.
    for (const Collision& c : order.all())
      EXPECT_LE(std::min(first_time[index(c.pair.first)], first_time[index(c.pair.second)]), c.time);
    kept += found.size(), hits += order.all().size();
  }
  std::printf("%zu collisions, %zu of them the first of both objects\n", hits, kept);
  EXPECT_GT(hits, kept);
}

// The order of the candidates and equal times do not change the answer.
TEST(CollisionOrder, OrdersTiesByPair) {
  const auto at_half = [](ObjectId, ObjectId) { return std::optional<double>(0.5); };
  const Pair ab{ObjectId(0), ObjectId(1)}, bc{ObjectId(1), ObjectId(2)}, cd{ObjectId(2), ObjectId(3)};
  CollisionOrder order;
  for (const std::vector<Pair>& candidates : {std::vector{ab, bc, cd}, {cd, bc, ab}, {bc, ab, cd}}) {
    const auto kept = order.first_collisions(candidates, 4, at_half);
    ASSERT_EQ(kept.size(), 2u);
    EXPECT_EQ(kept[0].pair, ab);
    EXPECT_EQ(kept[1].pair, cd);
  }
  EXPECT_TRUE(order.first_collisions({}, 0, at_half).empty());
}

// Tests the example of the source: three spheres of radius 0.5.
TEST(CollisionOrder, ExampleOfTheSource) {
  std::vector<MovingSphere> spheres = {
      {{5.5, 5.2, 0.5}, {}, 0.5}, {{5.5, 5.2, 0.5}, {}, 0.5}, {{5.3, 5.6, 0.2}, {}, 0.5}};
  SweepAndPrune sweep;
  for (const MovingSphere& sphere : spheres) sweep.add(swept_box(sphere));
  sweep.update();
  CollisionOrder order;
  const auto kept = order.first_collisions(
      sweep.pairs(), 3, [&](ObjectId a, ObjectId b) { return sphere_impact(spheres[index(a)], spheres[index(b)]); });
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].pair, (Pair{ObjectId(0), ObjectId(1)}));
  EXPECT_EQ(kept[0].time, 0.0);
  EXPECT_EQ(order.all().size(), 3u);
}

namespace broad_phase_test {

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

}  // namespace broad_phase_test

}  // namespace
}  // namespace trocar::broad
