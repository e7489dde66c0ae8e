// Tests bonds between organs: their stiffness against closed forms, conservation of momentum, energy and its gradient,
// the bound of their frequencies, how fibres break, and what still holds organs that hang together.
#include "deform/join/bonds.hpp"

#include <Eigen/Dense>

#include "deform/reference/energy.hpp"
#include "deform/solid/elastic_forces.hpp"
#include "deform/solid/tissue.hpp"
#include "tests/deform/organ_group.hpp"
#include "tests/deform/sculpt_support.hpp"
#include "tests/support/test.hpp"

namespace trocar {
namespace {

using test::kFrame, test::kSide;
using test::OrganGroup, test::TwoBlocks, test::floating, test::second_on_first, test::shift;

// A layer of area A and thickness t pulls with E A d / t against a displacement d in any direction.
TEST(Bonds, AreaBondHasTheStiffnessOfItsLayer) {
  TwoBlocks blocks(floating());
  const LayerParams params = second_on_first();
  ASSERT_GT(add_layer(params, 1, 0, blocks.organs(), blocks.bonds), 100u);
  EXPECT_NEAR(glm::length(blocks.pull_on_second()), 0.0, 1e-4);
  for (const glm::vec3 by : {glm::vec3(0, 0, 5e-4f), glm::vec3(3e-4f, 0, 0), glm::vec3(2e-4f, -1e-4f, 4e-4f)}) {
    shift(blocks.group().states[1], by);
    const glm::dvec3 expected = -double(params.modulus / params.thickness * kSide * kSide) * glm::dvec3(by);
    EXPECT_LT(glm::distance(blocks.pull_on_second(), expected), 2e-3 * glm::length(expected));
    shift(blocks.group().states[1], -by);
  }
}

// Organs that overlap at rest are joined where they are: no pull, however deep the overlap.
TEST(Bonds, OverlapAtRestIsNotPulled) {
  for (const float overlap : {0.f, 0.003f, 0.012f}) {
    TwoBlocks blocks(floating(), glm::vec3(kSide), overlap);
    ASSERT_GT(add_layer(second_on_first(), 1, 0, blocks.organs(), blocks.bonds), 100u);
    OrganStepper stepper(1);
    for (int frame = 0; frame < 30; ++frame) blocks.step(kFrame, stepper);
    for (std::size_t k = 0; k < 2; ++k)
      EXPECT_LT(test::farthest_from_rest(blocks.group().models[k], blocks.group().states[k]), 1e-6f) << overlap;
  }
}

// A block that hangs from the wall on a band stretches it by its weight over the band's stiffness.
TEST(Bonds, BandCarriesAWeight) {
  TissueParams params;
  params.gravity = {0.f, 0.f, -9.81f}, params.youngs_modulus = 2e4f;
  std::vector<TriangleMesh> meshes{test::fine_block(glm::vec3(0.f), glm::vec3(kSide), 0.004f)};
  std::vector<TissueModel> models{make_tissue(meshes[0].view(), params, {})};
  OrganGroup group(std::move(meshes), std::move(models));
  const std::vector<BondedOrgan> organs{{&group.models[0], group.meshes[0].view(), nullptr}};
  Bonds bonds;
  BandParams band;
  band.section_mm2 = 40.f, band.from_start = {0.005f, 0.02f, kSide}, band.from_end = {0.035f, 0.02f, kSide};
  band.to_start = {0.005f, 0.02f, 0.08f}, band.to_end = {0.035f, 0.02f, 0.08f};
  ASSERT_EQ(add_band(band, 0, kWall, organs, bonds), 8u);
  measure_slowdown(group.model_list, bonds);
  OrganStepper stepper(1);
  OrganContacts none;
  for (int frame = 0; frame < 900; ++frame) {
    const SteppedOrgan stepped{&group.models[0], &group.states[0], {}};
    stepper.step(std::span(&stepped, 1), none, bonds, kFrame);
  }
  double pull = 0.0, stretch = 0.0;
  for (const Fibre& fibre : bonds.fibres) {
    const FibreEnds ends = ends_of(fibre, group.model_list, group.state_list);
    pull += double(pull_on_a(fibre, ends).z);
    stretch += double(glm::distance(ends.a, ends.b) - fibre.free_length) / 8.0;
  }
  const double weight = 9.81 * group.mass(0), stiffness = double(band.modulus * 1e-6f * band.section_mm2 / kSide);
  EXPECT_NEAR(pull, weight, 2e-3 * weight);
  EXPECT_NEAR(stretch, weight / stiffness, 0.02 * weight / stiffness);
}

// A strand is slack until it is longer than its free length; then its force grows from zero.
TEST(Bonds, SlackStrandsDoNotPull) {
  Fibre fibre{};
  fibre.free_length = fibre.reference = 0.02f, fibre.stiffness = 50.f;
  EXPECT_EQ(pull_on_a(fibre, {{0, 0, 0}, {0.019f, 0, 0}}), glm::vec3(0.f));
  EXPECT_EQ(pull_on_a(fibre, {{0, 0, 0}, {0, 0, 0}}), glm::vec3(0.f));
  EXPECT_NEAR(pull_on_a(fibre, {{0, 0, 0}, {0, 0.022f, 0}}).y, 0.1f, 1e-6f);
  EXPECT_NEAR(strain_of(fibre, {{0, 0, 0}, {0, 0.022f, 0}}), 0.1f, 1e-6f);
  fibre.free_length = 0.f;
  EXPECT_EQ(pull_on_a(fibre, {{0, 0, 0}, {0, 0, 0}}), glm::vec3(0.f));
}

// The force is minus the gradient of the energy, by central differences.
TEST(Bonds, ForceIsTheGradientOfTheEnergy) {
  std::mt19937 random(3101);
  std::printf("seed 3101\n");
  const auto uniform = [&] { return static_cast<float>(random() >> 8) / 16777216.f - 0.5f; };
  for (int round = 0; round < 1000; ++round) {
    Fibre fibre{};
    fibre.free_length = round % 2 ? 0.f : 0.02f, fibre.reference = 0.02f, fibre.stiffness = 40.f;
    const glm::vec3 a(uniform(), uniform(), uniform()), b = a + 0.1f * glm::vec3(uniform(), uniform(), uniform());
    const glm::vec3 pull = pull_on_a(fibre, {a, b});
    for (int axis = 0; axis < 3; ++axis) {
      glm::vec3 step(0.f);
      step[axis] = 5e-4f;
      const double slope = (energy_of(fibre, {a + step, b}) - energy_of(fibre, {a - step, b})) / 1e-3;
      EXPECT_NEAR(slope, -double(pull[axis]), 2e-3 * (1.0 + double(glm::length(pull)))) << round;
    }
  }
}

// Two free blocks, pulled apart, turned and let go: momentum and angular momentum stay, organ for organ they do not.
TEST(Bonds, KeepMomentumAndAngularMomentum) {
  TwoBlocks blocks(floating());
  LayerParams params = second_on_first();
  params.break_strain = 100.f;
  add_layer(params, 1, 0, blocks.organs(), blocks.bonds);
  OrganGroup& group = blocks.group();
  shift(group.states[1], {4e-4f, 0.f, 6e-4f});
  for (std::size_t i = 0; i < group.states[1].v.size(); ++i)
    group.states[1].v[i] = glm::cross(glm::vec3(0.f, 1.f, 2.f), group.states[1].x[i]);
  const auto momentum = [&] { return group.momentum(0) + group.momentum(1); };
  const auto spin = [&] {
    glm::dvec3 sum(0.0);
    for (std::size_t k = 0; k < 2; ++k)
      for (std::size_t i = 0; i < group.states[k].x.size(); ++i)
        sum += double(group.models[k].mass[i]) *
               glm::cross(glm::dvec3(group.states[k].x[i]), glm::dvec3(group.states[k].v[i]));
    return sum;
  };
  const glm::dvec3 p = momentum(), l = spin(), alone = group.momentum(0);
  OrganStepper stepper(1);
  for (int frame = 0; frame < 120; ++frame) blocks.step(kFrame, stepper);
  EXPECT_LT(glm::distance(momentum(), p), 2e-4 * glm::length(p));
  EXPECT_LT(glm::distance(spin(), l), 2e-3 * glm::length(l));
  EXPECT_GT(glm::distance(group.momentum(0), alone), 0.1 * glm::length(p));
}

// With damping, the energy of bonded blocks never rises in 100,000 substeps. Without any it rises slowly, because the
// integrator conserves it exactly only for small motions: by a quarter in 400,000 substeps.
TEST(Bonds, EnergyNeverGrows) {
  for (const float damping : {0.f, 3e-4f}) {
    TissueParams tissue = floating();
    tissue.damping_time = damping, tissue.node_spacing = 0.01f;
    TwoBlocks blocks(tissue, glm::vec3(0.03f));
    LayerParams params = second_on_first();
    params.break_strain = 100.f;
    add_layer(params, 1, 0, blocks.organs(), blocks.bonds);
    shift(blocks.group().states[1], {3e-4f, 2e-4f, 5e-4f});
    measure_slowdown(blocks.group().model_list, blocks.bonds);
    const int per_frame = substep_count(blocks.group().models[0], blocks.bonds.slowdown[0] * kFrame);
    const double dt = double(kFrame) / per_frame, start = blocks.energy(dt);
    OrganStepper stepper(1);
    double most = start;
    const int frames = 100000 / per_frame + 1;
    for (int frame = 0; frame < frames; ++frame) {
      blocks.step(kFrame, stepper);
      most = std::max(most, blocks.energy(dt));
    }
    const double end = blocks.energy(dt);
    std::printf("%d substeps, damping time %.1g s: energy %.3g J at first, at most %.4f of it, %.4f in the end\n",
                frames * per_frame, double(damping), start, most / start, end / start);
    if (damping > 0.f) {
      EXPECT_LE(most, start);
      EXPECT_LT(end, 0.05 * start);
    } else {
      EXPECT_LT(most, 1.25 * start);
    }
  }
}

// Between organs of different damping, too, the part of the force that depends on velocities takes energy out of every
// motion: also of one in which both ends move the same way, one a little faster.
TEST(Bonds, DampingNeverDrives) {
  constexpr std::uint32_t kSeed = 20261123;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  std::uniform_real_distribution<float> number(-1.f, 1.f);
  TwoBlocks blocks(floating());
  add_layer(second_on_first(), 1, 0, blocks.organs(), blocks.bonds);
  OrganGroup& group = blocks.group();
  group.models[0].params.damping_time = 1e-3f, group.models[1].params.damping_time = 1e-4f;
  shift(group.states[1], {0.f, 0.f, 1e-3f});
  const auto forces = [&](std::size_t k) {
    for (std::size_t i = 0; i < 2; ++i) begin_step(group.models[i], group.states[i], {});
    test::add_all_bond_forces(group, blocks.bonds);
    std::vector<glm::dvec3> sum;
    for (std::uint32_t n = 0; n < group.states[k].x.size(); ++n)
      sum.emplace_back(column(group.states[k].scratch.force, n));
    for (std::size_t i = 0; i < 2; ++i) group.states[i].scratch.force = {};
    return sum;
  };
  const std::vector<glm::dvec3> still[] = {forces(0), forces(1)};
  for (int trial = 0; trial < 100; ++trial) {
    const glm::vec3 first = 0.1f * glm::vec3(number(random), number(random), number(random));
    const glm::vec3 second = (1.f + number(random)) * first;
    group.states[0].v.assign(group.states[0].v.size(), first);
    group.states[1].v.assign(group.states[1].v.size(), second);
    double power = 0.0, scale = 0.0;
    for (std::size_t k = 0; k < 2; ++k) {
      const std::vector<glm::dvec3> moving = forces(k);
      for (std::size_t n = 0; n < moving.size(); ++n) {
        const double part = glm::dot(moving[n] - still[k][n], glm::dvec3(group.states[k].v[n]));
        power += part, scale += std::abs(part);
      }
    }
    ASSERT_LE(power, 1e-3 * scale) << "trial " << trial;
  }
}

// Bonds as stiff as tendon, on blocks whose sides graze cells, stay finite and near rest.
TEST(Bonds, StiffBondsOnNearlyEmptyCellsAreStable) {
  for (const float graze : {0.0001f, 0.002f, 0.0041f}) {
    TissueParams tissue = floating();
    tissue.damping_time = 1e-4f;
    TwoBlocks blocks(tissue, glm::vec3(0.024f + graze));
    LayerParams params = second_on_first();
    params.modulus = 1e6f;
    ASSERT_GT(add_layer(params, 1, 0, blocks.organs(), blocks.bonds), 20u);
    measure_slowdown(blocks.group().model_list, blocks.bonds);
    EXPECT_GT(blocks.bonds.slowdown[0], 1.5f);
    blocks.group().states[1].v.assign(blocks.group().states[1].v.size(), {0.02f, 0.f, 0.02f});
    OrganStepper stepper(1);
    for (int frame = 0; frame < 200; ++frame) blocks.step(kFrame, stepper);
    const glm::dvec3 apart = blocks.group().centre(1) - blocks.group().centre(0);
    EXPECT_NEAR(glm::length(apart), 0.024 + double(graze), 1e-3) << graze;
  }
}

TEST(Bonds, WithoutContactOrFullCellsThereAreNone) {
  TwoBlocks blocks(floating());
  LayerParams params = second_on_first();
  params.centre = {1.f, 0.f, 0.f}, params.radius = 0.01f;
  EXPECT_EQ(add_layer(params, 1, 0, blocks.organs(), blocks.bonds), 0u);
  BandParams band;
  band.from_start = glm::vec3(1.f), band.from_end = glm::vec3(2.f);
  EXPECT_EQ(add_band(band, 0, kWall, blocks.organs(), blocks.bonds), 0u) << "the lattice is a metre away";
  EXPECT_TRUE(blocks.bonds.empty());
}

TEST(Bonds, ThreadCountDoesNotChangeTheBits) {
  const auto hash_after = [](int threads) {
    TwoBlocks blocks(floating());
    add_layer(second_on_first(), 1, 0, blocks.organs(), blocks.bonds);
    shift(blocks.group().states[1], {0.f, 3e-4f, 5e-4f});
    OrganStepper stepper(threads);
    for (int frame = 0; frame < 20; ++frame) blocks.step(kFrame, stepper);
    return test::hash_of(blocks.group().states[0]) * 31 + test::hash_of(blocks.group().states[1]);
  };
  const std::uint64_t one = hash_after(1);
  EXPECT_EQ(one, hash_after(2));
  EXPECT_EQ(one, hash_after(4));
}

// Tests how bonds end: torn, peeled, without their tissue, burnt and snipped.

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
  set_volume_fractions(model, cells, std::vector<float>(cells.size(), 0.f));
  break_loose_fibres(blocks.group().model_list, blocks.bonds);
  const std::vector<std::uint32_t>& broken = blocks.bonds.broken;
  EXPECT_GT(broken.size(), count / 4);
  EXPECT_EQ(blocks.bonds.broken_how, std::vector(broken.size(), FibreBreak::Lost));
  EXPECT_LT(broken.size(), 3 * count / 4);
  for (const std::uint32_t f : broken)
    EXPECT_EQ(model.lattice.cells[blocks.bonds.fibres[f].b.cell].volume_fraction, 0.f);
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
  nowhere.corners = 0, nowhere.origin.x = 0.02f;
  const std::size_t before = cut.size();
  snip_fibres(nowhere, group.model_list, group.state_list, blocks.bonds);
  nowhere.corners = 4, nowhere.origin.x = NAN;
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

namespace trocar::test {
namespace {

// Compares bond_square with the eigenvalues of both lattices and all fibres together, which Eigen computes from the
// curvature of the reference's energies.

// Returns the largest eigenvalue of two organs with their fibres, in displacements scaled by the roots of the masses,
// 1/s^2. Fibres are as stiff across as along.
double largest_eigenvalue(std::span<const TissueModel* const> models, const Bonds& bonds) {
  const auto first = static_cast<Eigen::Index>(models[0]->mass.size());
  const auto size = first + static_cast<Eigen::Index>(models[1]->mass.size());
  const auto scale = [&](Eigen::Index organ, std::uint32_t node) {
    return std::sqrt(double(models[static_cast<std::size_t>(organ)]->inverse_mass[node]));
  };
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(3 * size, 3 * size);
  for (Eigen::Index organ = 0; organ < 2; ++organ) {
    const TissueModel& model = *models[static_cast<std::size_t>(organ)];
    const std::vector<glm::dvec3> x(model.rest.begin(), model.rest.end());
    Expansion at_rest;
    at_rest.slope.resize(x.size());
    add_springs(model, x, Curvature::Exact, at_rest);
    add_volumes(model, x, Curvature::Exact, at_rest);
    for (const CurvatureBlock& block : at_rest.curvature)
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) {
          const Eigen::Index row = 3 * (organ * first + block.row) + r, column = 3 * (organ * first + block.column) + c;
          const double value = scale(organ, block.row) * scale(organ, block.column) * block.value[c][r];
          matrix(row, column) += value;
          if (block.row != block.column) matrix(column, row) += value;
        }
  }
  for (const Fibre& fibre : bonds.fibres) {
    Eigen::VectorXd g = Eigen::VectorXd::Zero(size);
    double sign = 1.0;
    for (const BondEnd* end : {&fibre.a, &fibre.b}) {
      for (std::size_t i = 0; end->organ != kWall && i < 8; ++i) {
        const std::uint32_t node = models[end->organ]->lattice.cells[end->cell].node[i];
        g((end->organ == 0 ? 0 : first) + node) += sign * double(end->weight[i]) * scale(end->organ, node);
      }
      sign = -1.0;
    }
    const Eigen::MatrixXd pull = double(fibre.stiffness) * g * g.transpose();
    for (Eigen::Index r = 0; r < size; ++r)
      for (Eigen::Index c = 0; c < size; ++c)
        for (int axis = 0; axis < 3; ++axis) matrix(3 * r + axis, 3 * c + axis) += pull(r, c);
  }
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff();
}

// What limits the substeps: the fibres with the tissue around them, or tissue elsewhere.
double limiting_square(std::span<const TissueModel* const> models, const Bonds& bonds) {
  return std::max({bond_square(models, bonds), own_square(*models[0]), own_square(*models[1])});
}

// A fibre between random cells, which may hold far from them.
Fibre random_fibre(std::span<const BondedOrgan> organs, std::mt19937& random, bool to_wall) {
  const auto uniform = [&] { return static_cast<float>(random() >> 8) / 16777216.f; };
  Fibre fibre{};
  fibre.stiffness = 1.f + 1000.f * uniform() * uniform();
  for (std::uint32_t organ = 0; organ < 2; ++organ) {
    BondEnd& end = organ == 0 ? fibre.a : fibre.b;
    if (to_wall && organ == 1) continue;
    end.organ = organ, end.cell = static_cast<std::uint32_t>(random() % organs[organ].model->lattice.cells.size());
    const float x = 2.f * uniform() - 0.5f, y = 2.f * uniform() - 0.5f, z = 2.f * uniform() - 0.5f;
    for (int corner = 0; corner < 8; ++corner) {
      const glm::vec3 w = glm::mix(1.f - glm::vec3(x, y, z), glm::vec3(x, y, z), glm::vec3(corner_offset(corner)));
      end.weight[static_cast<std::size_t>(corner)] = w.x * w.y * w.z;
    }
  }
  return fibre;
}

TissueParams coarse() {
  TissueParams params;
  params.node_spacing = 0.012f;
  return params;
}

TEST(BondStability, RandomFibresHaveTheirLargestEigenvalue) {
  std::mt19937 random(3401);
  std::printf("seed 3401\n");
  double least = 2.0, most = 0.0;
  for (const TissueLaw law : kTissueLaws) {
    TissueParams tissue = coarse();
    tissue.law = law;
    TwoBlocks blocks(tissue, glm::vec3(0.03f));
    const std::vector<const TissueModel*>& models = blocks.group().model_list;
    for (int round = 0; round < 20; ++round) {
      blocks.bonds.fibres.clear();
      // Some nodes do not move.
      for (TissueModel& model : blocks.group().models)
        for (std::size_t i = 0; i < model.mass.size(); ++i)
          model.inverse_mass[i] = random() % 10 == 0 ? 0.f : 1.f / model.mass[i];
      const unsigned count = 1 + random() % 40;
      for (unsigned k = 0; k < count; ++k)
        blocks.bonds.fibres.push_back(random_fibre(blocks.organs(), random, random() % 8 == 0)),
            blocks.bonds.intact.push_back(1);
      const double ratio = limiting_square(models, blocks.bonds) / largest_eigenvalue(models, blocks.bonds);
      least = std::min(least, ratio), most = std::max(most, ratio);
    }
  }
  std::printf("%.3f to %.3f of the largest eigenvalue\n", least, most);
  EXPECT_GE(least, 1.0);
  EXPECT_LT(most, 1.101);
}

// Layers from very soft, where the tissue alone counts, to as stiff as tendon.
TEST(BondStability, LayersHaveTheirLargestEigenvalue) {
  for (const float modulus : {1e2f, 3e3f, 1e4f, 3e4f, 1e5f, 1e6f}) {
    TwoBlocks blocks(coarse(), glm::vec3(0.03f));
    const std::vector<const TissueModel*>& models = blocks.group().model_list;
    LayerParams params = second_on_first();
    params.modulus = modulus;
    ASSERT_GT(add_layer(params, 1, 0, blocks.organs(), blocks.bonds), 20u);
    const double exact = largest_eigenvalue(models, blocks.bonds), found = limiting_square(models, blocks.bonds);
    std::printf("%.0f Pa: %.4f of the largest eigenvalue\n", double(modulus), found / exact);
    // The square of a lattice alone has no margin of its own.
    EXPECT_GE(found, 0.98 * exact);
    EXPECT_LT(found, 1.101 * exact);
  }
}

TEST(BondStability, OnlyBondedOrgansAreSlowed) {
  TwoBlocks blocks(coarse(), glm::vec3(0.03f));
  const std::vector<const TissueModel*>& models = blocks.group().model_list;
  EXPECT_EQ(bond_square(models, blocks.bonds), 0.0);
  measure_slowdown(models, blocks.bonds);
  EXPECT_EQ(blocks.bonds.slowdown, (std::vector<float>{1.f, 1.f}));
  std::mt19937 random(3402);
  blocks.bonds.fibres.push_back(random_fibre(blocks.organs(), random, true)), blocks.bonds.intact.push_back(1);
  blocks.bonds.fibres[0].stiffness = 1e-3f;
  measure_slowdown(models, blocks.bonds);
  EXPECT_LT(blocks.bonds.slowdown[0], 1.05f) << "a soft fibre, a margin of 10 % for the square";
  blocks.bonds.fibres[0].stiffness = 1e4f;
  measure_slowdown(models, blocks.bonds);
  EXPECT_GT(blocks.bonds.slowdown[0], 1.1f);
  EXPECT_EQ(blocks.bonds.slowdown[1], 1.f);
}

// The bound is that of the fibres that are left.
TEST(BondStability, BrokenFibresDoNotCount) {
  TwoBlocks blocks(coarse(), glm::vec3(0.03f));
  const std::vector<const TissueModel*>& models = blocks.group().model_list;
  const std::size_t fibres = add_layer(second_on_first(), 1, 0, blocks.organs(), blocks.bonds);
  const double square = bond_square(models, blocks.bonds);
  EXPECT_GT(square, 0.0);
  Bonds left = blocks.bonds;
  left.fibres.clear(), left.intact.clear();
  for (std::uint32_t f = 0; f < fibres; ++f)
    if (f % 2 == 0)
      break_fibre(f, FibreBreak::Torn, blocks.bonds);
    else
      left.fibres.push_back(blocks.bonds.fibres[f]), left.intact.push_back(1);
  EXPECT_EQ(bond_square(models, blocks.bonds), bond_square(models, left));
  EXPECT_LE(bond_square(models, blocks.bonds), square);
  for (std::uint32_t f = 1; f < fibres; f += 2) break_fibre(f, FibreBreak::Torn, blocks.bonds);
  EXPECT_EQ(bond_square(models, blocks.bonds), 0.0);
}

// A fibre goes with most of the tissue that held it, and stays with less.
TEST(BondStability, FibresGoWithTheirTissue) {
  TwoBlocks blocks(coarse(), glm::vec3(0.03f));
  add_layer(second_on_first(), 1, 0, blocks.organs(), blocks.bonds);
  const std::vector<const TissueModel*>& models = blocks.group().model_list;
  const BondEnd& end = blocks.bonds.fibres[0].a;
  float& left = blocks.group().models[end.organ].lattice.cells[end.cell].volume_fraction;
  left = 0.5f * end.full;
  break_loose_fibres(models, blocks.bonds);
  EXPECT_TRUE(blocks.bonds.broken.empty());
  left = 0.3f * end.full;
  break_loose_fibres(models, blocks.bonds);
  ASSERT_FALSE(blocks.bonds.broken.empty());
  EXPECT_EQ(blocks.bonds.broken[0], 0u);
  EXPECT_EQ(blocks.bonds.broken_how[0], FibreBreak::Lost);
}

}  // namespace

}  // namespace trocar::test

namespace trocar {
namespace {

// Tests the energy of organs that connective tissue joins: its gradient is minus the force of the real-time step, and
// agrees with finite differences of the energy.

constexpr unsigned kSeed = 4177;

// Two blocks with a layer and a band to the wall, weight, a rigid and an elastic attachment, all nodes moved at random.
class ShakenBlocks : public ::testing::Test {
 protected:
  ShakenBlocks() : blocks_(heavy()), random_(kSeed) {
    std::printf("seed %u\n", kSeed);
    TissueModel& model = group().models[0];
    for (std::uint32_t n = 0; n < 6; ++n) model.inverse_mass[n] = 0.f;
    for (std::uint32_t n = 20; n < 30; ++n) model.tethers.push_back({n, 40.f, false});
    LayerParams layer = test::second_on_first();
    layer.break_strain = 100.f;
    add_layer(layer, 1, 0, blocks_.organs(), blocks_.bonds);
    BandParams band;
    band.from_start = {0.005f, 0.02f, 0.08f}, band.from_end = {0.035f, 0.02f, 0.08f};
    band.to_start = {0.005f, 0.02f, 0.12f}, band.to_end = {0.035f, 0.02f, 0.12f};
    add_band(band, 1, kWall, blocks_.organs(), blocks_.bonds);
    for (SteppedTissue& state : group().states)
      for (std::size_t i = 0; i < state.x.size(); ++i) {
        state.x[i] += 2e-4f * uniform3();
        state.v[i] = 0.01f * uniform3();
      }
  }

  static TissueParams heavy() {
    TissueParams params = test::floating();
    params.gravity = {0.5f, -2.f, -9.81f};
    return params;
  }
  test::OrganGroup& group() { return blocks_.group(); }
  OrgansEnergy energy() { return energy_of(group().model_list, group().state_list, blocks_.bonds); }
  glm::vec3 uniform3() {
    const auto one = [this] { return static_cast<float>(random_() >> 8) / 8388608.f - 1.f; };
    const float x = one(), y = one(), z = one();
    return {x, y, z};
  }

  test::TwoBlocks blocks_;
  std::mt19937 random_;
};

TEST_F(ShakenBlocks, EnergyFallsAgainstTheForcesOfTheStep) {
  const OrgansEnergy at = energy();
  EXPECT_GT(at.fibres, 0.0);
  EXPECT_GT(at.elastic, 0.0);
  EXPECT_GT(at.kinetic, 0.0);
  for (std::size_t k = 0; k < 2; ++k) begin_step(group().models[k], group().states[k], {});
  test::add_all_bond_forces(group(), blocks_.bonds);
  double largest = 0.0, error = 0.0;
  for (std::size_t k = 0; k < 2; ++k) {
    const TissueModel& model = group().models[k];
    SteppedTissue& state = group().states[k];
    NodeColumns& force = state.scratch.force;
    add_elastic_forces(model, state.scratch.x, force);
    for (const Tether& tether : model.tethers) {
      const glm::vec3 pull = tether.stiffness * (model.rest[tether.node] - state.x[tether.node]);
      force.x[tether.node] += pull.x, force.y[tether.node] += pull.y, force.z[tether.node] += pull.z;
    }
    for (std::size_t i = 0; i < state.x.size(); ++i) {
      if (!(model.inverse_mass[i] > 0.f)) continue;
      const glm::dvec3 pull = glm::dvec3(force.x[i], force.y[i], force.z[i]) +
                              static_cast<double>(model.mass[i]) * glm::dvec3(model.gravity[i]);
      largest = std::max(largest, glm::length(pull));
      error = std::max(error, glm::distance(pull, -at.slope[k][i]));
    }
  }
  std::printf("largest force %.3g N, largest difference %.2g N\n", largest, error);
  EXPECT_LT(error, 2e-4 * largest);
}

TEST_F(ShakenBlocks, ItsGradientIsThatOfFiniteDifferences) {
  const OrgansEnergy at = energy();
  double error = 0.0, largest = 0.0;
  for (int round = 0; round < 60; ++round) {
    const std::size_t k = random_() % 2, node = random_() % group().models[k].rest.size();
    const int axis = static_cast<int>(random_() % 3);
    if (!(group().models[k].inverse_mass[node] > 0.f)) continue;
    float& coordinate = group().states[k].x[node][axis];
    const float before = coordinate, above = before + 1e-5f, below = before - 1e-5f;
    coordinate = above;
    const double high = energy().total();
    coordinate = below;
    const double low = energy().total();
    coordinate = before;
    const double slope = (high - low) / (static_cast<double>(above) - static_cast<double>(below));
    largest = std::max(largest, std::abs(slope));
    error = std::max(error, std::abs(slope - at.slope[k][node][axis]));
  }
  std::printf("largest slope %.3g N, largest difference %.2g N\n", largest, error);
  EXPECT_LT(error, 2e-3 * largest);
}

// Substeps of a quarter of the stable length change the stepped energy much less than the total energy.
TEST_F(ShakenBlocks, SteppedEnergyIsThatWhichSubstepsKeep) {
  measure_slowdown(group().model_list, blocks_.bonds);
  const float dt = 0.25f * group().models[0].longest_substep / blocks_.bonds.slowdown[0];
  OrganStepper stepper(1);
  double plain[2] = {1e9, -1e9}, kept[2] = {1e9, -1e9};
  for (int step = 0; step < 40; ++step) {
    blocks_.step(dt, stepper);
    const OrgansEnergy at = energy();
    const double total = at.total(), stepped = stepped_energy(at, group().state_list, static_cast<double>(dt));
    plain[0] = std::min(plain[0], total), plain[1] = std::max(plain[1], total);
    kept[0] = std::min(kept[0], stepped), kept[1] = std::max(kept[1], stepped);
  }
  std::printf("in 40 substeps the total energy changes by %.3g J, the stepped energy by %.3g J\n", plain[1] - plain[0],
              kept[1] - kept[0]);
  EXPECT_LT(kept[1] - kept[0], 0.25 * (plain[1] - plain[0]));
}

// Tests what still holds organs that hang together: parts fall when neither an attachment nor a chain of fibres holds
// them, and not before.

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
    for (std::size_t k = 0; k < 2; ++k)
      sculptures_.push_back(make_sculpture(blocks_.group().meshes[k].view(), blocks_.group().models[k], {}));
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
