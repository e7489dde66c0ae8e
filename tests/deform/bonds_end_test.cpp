// Tests how bonds end: torn, peeled, without their tissue, burnt and snipped.
#include "deform/join/bonds.hpp"

#include <cmath>

#include "tests/deform/peel.hpp"
#include "tests/deform/two_blocks.hpp"

namespace trocar {
namespace {

using test::kSide;
using test::OrganGroup, test::TwoBlocks, test::floating, test::second_on_first, test::shift;

// The work that breaks a layer is E t strain^2 / 2 for each square metre.
TEST(BondsEnd, LayerBreaksWithItsFractureEnergy) {
  TwoBlocks blocks(floating());
  const LayerParams params = second_on_first();
  add_layer(params, 1, 0, blocks.organs(), blocks.bonds);
  const float apart = params.break_strain * params.thickness;
  OrganGroup& group = blocks.group();
  const std::vector<std::uint32_t>& broken = blocks.bonds.broken;
  shift(group.states[1], {0.f, 0.f, 0.999f * apart});
  blocks.break_stretched();
  EXPECT_TRUE(broken.empty());
  double energy = 0.0;
  for (const Fibre& fibre : blocks.bonds.fibres)
    energy += energy_of(fibre, ends_of(fibre, group.model_list, group.state_list));
  const double expected = 0.5 * double(params.modulus * params.thickness * params.break_strain * params.break_strain) *
                          double(kSide * kSide);
  EXPECT_NEAR(energy, expected, 5e-3 * expected);
  shift(group.states[1], {0.f, 0.f, 0.002f * apart});
  blocks.break_stretched();
  EXPECT_EQ(broken.size(), blocks.bonds.fibres.size());
  EXPECT_EQ(blocks.bonds.broken_how, std::vector(broken.size(), FibreBreak::Torn));
}

// Steady peeling takes at least the fracture energy of the layer for each area that comes loose. Rows of fibres snap
// one after the other and lose what the soft bed stores; finer rows lose less. The force is proportional to the width.
TEST(BondsEnd, PeelingTakesTheFractureEnergy) {
  const test::PeelParams cases[] = {{}, {.width = 0.04f}, {.spacing = 0.001f}};
  test::SteadyPeel steady[3];
  double energy = 0.0;
  for (int k = 0; k < 3; ++k) {
    test::Peel peel(cases[k]);
    const std::vector<test::PeelStep> steps = peel.run();
    steady[k] = test::steady_part(steps, cases[k]);
    energy = peel.fracture_energy();
    std::printf("bed %.0f x %.0f mm, fibres %.0f mm apart: %.3f N, %.2f J/m^2; fracture energy %.2f J/m^2\n",
                1e3 * double(cases[k].length), 1e3 * double(cases[k].width), 1e3 * double(cases[k].spacing),
                steady[k].force, steady[k].work, energy);
    EXPECT_EQ(steps.back().bonded, 0.0);
    EXPECT_GT(steady[k].work, 0.97 * energy);
  }
  EXPECT_LT(steady[0].work, 2.3 * energy);
  EXPECT_LT(steady[2].work, 1.35 * energy);
  EXPECT_NEAR(steady[1].force, 2.0 * steady[0].force, 0.2 * steady[0].force);
}

// Pulled apart, a bond unzips: every fibre breaks once, at its strain, and does not heal.
TEST(BondsEnd, FibresBreakForGood) {
  TwoBlocks blocks(floating());
  LayerParams params = second_on_first();
  params.break_strain = 0.5f;
  const std::size_t count = add_layer(params, 1, 0, blocks.organs(), blocks.bonds);
  std::vector<std::uint32_t>& broken = blocks.bonds.broken;
  OrganGroup& group = blocks.group();
  // Tilted, so that one side is stretched first.
  const auto tilt = [&](float by) {
    for (std::size_t i = 0; i < group.states[1].x.size(); ++i)
      group.states[1].x[i] = group.models[1].rest[i] + glm::vec3(0.f, 0.f, by * group.models[1].rest[i].x / kSide);
  };
  std::size_t before = 0;
  for (int step = 1; step <= 40; ++step) {
    tilt(1e-4f * static_cast<float>(step));
    blocks.break_stretched();
    for (std::size_t i = before; i < broken.size(); ++i) {
      const Fibre& fibre = blocks.bonds.fibres[broken[i]];
      EXPECT_GT(strain_of(fibre, ends_of(fibre, group.model_list, group.state_list)), 0.5f);
    }
    before = broken.size();
  }
  EXPECT_GT(before, count / 2);
  EXPECT_LT(before, count) << "the fibres at the axis of the tilt hold";
  tilt(0.f);
  EXPECT_NEAR(glm::length(blocks.pull_on_second()), 0.0, 1e-4);
  blocks.break_stretched();
  EXPECT_EQ(broken.size(), before);
  std::sort(broken.begin(), broken.end());
  EXPECT_EQ(std::adjacent_find(broken.begin(), broken.end()), broken.end());
}

TEST(BondsEnd, FibresOfRemovedTissueBreak) {
  TwoBlocks blocks(floating());
  const std::size_t count = add_layer(second_on_first(), 1, 0, blocks.organs(), blocks.bonds);
  TissueModel& model = blocks.group().models[0];
  std::vector<std::uint32_t> cells;
  for (std::uint32_t c = 0; c < model.lattice.cells.size(); ++c)
    if (model.lattice.position(model.lattice.cells[c].node[0]).x < 0.015f) cells.push_back(c);
  set_fullness(model, cells, std::vector<float>(cells.size(), 0.f));
  break_loose_fibres(blocks.group().model_list, blocks.bonds);
  const std::vector<std::uint32_t>& broken = blocks.bonds.broken;
  EXPECT_GT(broken.size(), count / 4);
  EXPECT_EQ(blocks.bonds.broken_how, std::vector(broken.size(), FibreBreak::Lost));
  EXPECT_LT(broken.size(), 3 * count / 4);
  for (const std::uint32_t f : broken) EXPECT_EQ(model.lattice.cells[blocks.bonds.fibres[f].b.cell].fullness, 0.f);
}

// Hot metal cuts the fibres within its radius and no others; blades those that their region crosses.
TEST(BondsEnd, MetalAndBladesCutWhatTheyReach) {
  TwoBlocks blocks(floating());
  add_layer(second_on_first(), 1, 0, blocks.organs(), blocks.bonds);
  OrganGroup& group = blocks.group();
  const auto place = [&](std::uint32_t f) { return blocks.bonds.fibres[f].a.point; };
  std::vector<std::uint32_t>& cut = blocks.bonds.broken;
  const HotSegment wire{{0.01f, 0.f, kSide + 0.001f}, {0.01f, kSide, kSide + 0.001f}, 0.003f};
  burn_fibres({}, group.model_list, group.state_list, blocks.bonds);
  EXPECT_TRUE(cut.empty());
  burn_fibres(std::span(&wire, 1), group.model_list, group.state_list, blocks.bonds);
  std::size_t expected = 0;
  for (std::uint32_t f = 0; f < blocks.bonds.fibres.size(); ++f) expected += std::abs(place(f).x - 0.01f) < 0.00282f;
  EXPECT_EQ(cut.size(), expected);
  EXPECT_EQ(blocks.bonds.broken_how, std::vector(expected, FibreBreak::Burnt));
  cut.clear(), blocks.bonds.broken_how.clear();
  EXPECT_GT(expected, 5u);
  // A square of 20 x 20 mm upright at x = 28 mm, between y = 10 and 30 mm.
  BladeCut blades{{0.028f, 0.01f, kSide - 0.01f}, {0, 1, 0}, {0, 0, 1}, {}, 4};
  blades.outline = {glm::vec2(0.f), {0.02f, 0.f}, {0.02f, 0.02f}, {0.f, 0.02f}};
  snip_fibres(blades, group.model_list, group.state_list, blocks.bonds);
  EXPECT_GT(cut.size(), 3u);
  EXPECT_EQ(blocks.bonds.broken_how, std::vector(cut.size(), FibreBreak::Cut));
  for (const std::uint32_t f : cut) {
    EXPECT_NEAR(place(f).x, 0.028f, 7.6e-4f);
    EXPECT_NEAR(place(f).y, 0.02f, 0.0108f);
  }
  BladeCut nowhere = blades;
  nowhere.corners = 0;
  nowhere.origin.x = 0.02f;
  const std::size_t before = cut.size();
  snip_fibres(nowhere, group.model_list, group.state_list, blocks.bonds);
  nowhere.corners = 4;
  nowhere.origin.x = NAN;
  snip_fibres(nowhere, group.model_list, group.state_list, blocks.bonds);
  EXPECT_EQ(cut.size(), before);
}

// Blades cut a strand only where they cross it.
TEST(BondsEnd, BladesCutAStrandThatTheyCross) {
  TwoBlocks blocks(floating());
  BandParams band;
  band.from_start = {0.02f, 0.01f, 0.02f}, band.from_end = {0.02f, 0.03f, 0.02f};
  band.to_start = {0.10f, 0.01f, 0.02f}, band.to_end = {0.10f, 0.03f, 0.02f};
  ASSERT_EQ(add_band(band, 0, kWall, blocks.organs(), blocks.bonds), 8u);
  BladeCut blades{{0.06f, 0.02f, 0.01f}, {0, 1, 0}, {0, 0, 1}, {}, 3};
  blades.outline = {glm::vec2(0.f), {0.02f, 0.f}, {0.f, 0.02f}};
  snip_fibres(blades, blocks.group().model_list, blocks.group().state_list, blocks.bonds);
  EXPECT_EQ(blocks.bonds.broken, (std::vector<std::uint32_t>{4, 5, 6, 7})) << "the strands beyond y = 20 mm";
}

}  // namespace
}  // namespace trocar
