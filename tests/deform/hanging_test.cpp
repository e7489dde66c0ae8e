// Tests what still holds organs that hang together: parts fall when neither an attachment nor a chain of fibres holds
// them, and not before.
#include "deform/join/bonds.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/deform/slit_support.hpp"
#include "tests/deform/two_blocks.hpp"

namespace trocar {
namespace {

// Two blocks; the upper one hangs on the lower one by a layer, the lower one on the wall by a band.
class HangingBlocks : public ::testing::Test {
 protected:
  HangingBlocks() {
    add_layer({.reach = 1e-3f}, 1, 0, blocks_.organs(), blocks_.bonds);
    layer_ = static_cast<std::uint32_t>(blocks_.bonds.fibres.size());
    BandParams band;
    band.from_start = {0.01f, 0.01f, 0.01f}, band.from_end = {0.03f, 0.01f, 0.01f};
    band.to_start = {0.01f, 0.01f, -0.04f}, band.to_end = {0.03f, 0.01f, -0.04f};
    add_band(band, 0, kWall, blocks_.organs(), blocks_.bonds);
    for (std::size_t k = 0; k < 2; ++k) {
      sculptures_.push_back(make_sculpture(blocks_.group().meshes[k].view(), blocks_.group().models[k], {}));
    }
    for (std::size_t k = 0; k < 2; ++k) hanging_.push_back({&sculptures_[k], &blocks_.group().models[k]});
  }

  void begin() {
    mark_bonded(hanging_, blocks_.bonds);
    expect_to_hang(hanging_);
  }
  void break_fibres(std::uint32_t from, std::size_t to) {
    for (std::uint32_t f = from; f < to; ++f) break_fibre(f, FibreBreak::Cut, blocks_.bonds);
    mark_bonded(hanging_, blocks_.bonds);
    release_unheld(hanging_, blocks_.bonds);
  }
  std::ptrdiff_t falling(std::size_t k) const {
    return std::ranges::count(sculptures_[k].cells, true, &SculptCell::loose);
  }
  std::ptrdiff_t cells(std::size_t k) const { return static_cast<std::ptrdiff_t>(sculptures_[k].cells.size()); }

  test::TwoBlocks blocks_{TissueParams{}};
  std::uint32_t layer_ = 0;  // number of fibres of the layer; those of the band follow
  std::vector<Sculpture> sculptures_;
  std::vector<HangingOrgan> hanging_;
};

TEST_F(HangingBlocks, StayWhileOneFibreHoldsEach) {
  begin();
  break_fibres(1, layer_);
  break_fibres(layer_ + 1, blocks_.bonds.fibres.size());
  EXPECT_EQ(falling(0), 0);
  EXPECT_EQ(falling(1), 0);
}

TEST_F(HangingBlocks, FallWhenTheirLastFibreBreaks) {
  begin();
  break_fibres(0, layer_);
  EXPECT_EQ(falling(0), 0);
  EXPECT_EQ(falling(1), cells(1));
  for (const glm::vec3& gravity : blocks_.group().models[1].gravity) EXPECT_EQ(gravity, SculptParams{}.fall);
}

// The fibres between the two still hold, but nothing holds them both.
TEST_F(HangingBlocks, FallTogetherWhenNothingHoldsTheGroup) {
  begin();
  break_fibres(layer_, blocks_.bonds.fibres.size());
  EXPECT_EQ(falling(0), cells(0));
  EXPECT_EQ(falling(1), cells(1));
}

TEST_F(HangingBlocks, StayWhenTheyWereNeverHeld) {
  break_fibres(0, blocks_.bonds.fibres.size());
  EXPECT_EQ(falling(0), 0);
  EXPECT_EQ(falling(1), 0);
}

// The upper block falls through the lower one, as nothing computes their contact, onto the floor. What is held may be
// below it.
TEST_F(HangingBlocks, ALooseBlockComesToRestOnTheFloor) {
  constexpr float kHeight = 0.01f;  // m
  begin();
  for (std::size_t k = 0; k < 2; ++k) blocks_.group().models[k].floor = floor_of({.floor = -kHeight});
  break_fibres(0, layer_);
  OrganStepper stepper(1);
  for (int k = 0; k < 120; ++k) blocks_.step(test::kFrame, stepper);
  float lowest = 1.f, highest = 0.f, fastest = 0.f;
  const TissueState& fallen = blocks_.group().states[1];
  for (std::size_t i = 0; i < fallen.x.size(); ++i) {
    lowest = std::min(lowest, fallen.x[i].z), highest = std::max(highest, fallen.x[i].z);
    fastest = std::max(fastest, glm::length(fallen.v[i]));
  }
  EXPECT_NEAR(lowest, kHeight, 1e-6f);
  EXPECT_NEAR(highest, kHeight + test::kSide, 0.01f) << "it keeps its shape";
  EXPECT_LT(fastest, 0.005f);
  float lowest_held = 1.f;
  for (const glm::vec3& x : blocks_.group().states[0].x) lowest_held = std::min(lowest_held, x.z);
  EXPECT_LT(lowest_held, 0.002f);
}

// A cut that divides the upper block: the half without fibres falls at once, the other half with its last fibre.
TEST_F(HangingBlocks, ACutLetsTheUnheldHalfFall) {
  begin();
  for (std::uint32_t f = 0; f < layer_; ++f)
    if (blocks_.bonds.fibres[f].a.point.x > 0.015f) break_fibre(f, FibreBreak::Cut, blocks_.bonds);
  mark_bonded(hanging_, blocks_.bonds);
  const BladeCut cut = test::rectangle_cut({0.0213f, -0.01f, 0.06f}, {0, 1, 0}, {0, 0, 1}, 0.06f, 0.03f);
  snip(sculptures_[1], blocks_.group().models[1], blocks_.group().states[1], cut);
  release_unheld(hanging_, blocks_.bonds);
  const std::ptrdiff_t half = falling(1);
  EXPECT_GT(half, cells(1) / 4);
  EXPECT_LT(half, 3 * cells(1) / 4);
  const Lattice& lattice = blocks_.group().models[1].lattice;
  for (std::size_t c = 0; c < sculptures_[1].cells.size(); ++c) {
    const double x = double(lattice.position(lattice.cells[c].node[0]).x) + 0.5 * lattice.spacing;
    if (std::abs(x - 0.0213) < lattice.spacing) continue;
    EXPECT_EQ(sculptures_[1].cells[c].loose, x > 0.0213) << x;
  }
  break_fibres(0, layer_);
  EXPECT_EQ(falling(1), cells(1));
}

}  // namespace
}  // namespace trocar
