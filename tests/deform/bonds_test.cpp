// Tests bonds between organs: their stiffness against closed forms, conservation of momentum, energy, and that stiff
// bonds on nearly empty cells stay stable.
#include "deform/join/bonds.hpp"

#include <cmath>
#include <random>

#include "deform/solid/tissue.hpp"
#include "tests/deform/two_blocks.hpp"

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
  params.gravity = {0.f, 0.f, -9.81f};
  params.youngs_modulus = 2e4f;
  std::vector<TriangleMesh> meshes{test::fine_block(glm::vec3(0.f), glm::vec3(kSide), 0.004f)};
  std::vector<TissueModel> models{make_tissue(meshes[0].view(), params, {})};
  OrganGroup group(std::move(meshes), std::move(models));
  const std::vector<BondedOrgan> organs{{&group.models[0], group.meshes[0].view(), nullptr}};
  Bonds bonds;
  BandParams band;
  band.section_mm2 = 40.f;
  band.from_start = {0.005f, 0.02f, kSide}, band.from_end = {0.035f, 0.02f, kSide};
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
  fibre.free_length = fibre.reference = 0.02f;
  fibre.stiffness = 50.f;
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
    fibre.free_length = round % 2 ? 0.f : 0.02f;
    fibre.reference = 0.02f;
    fibre.stiffness = 40.f;
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
    tissue.damping_time = damping;
    tissue.node_spacing = 0.01f;
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
    add_bond_forces(group.model_list, group.state_list, blocks.bonds);
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
  params.centre = {1.f, 0.f, 0.f};
  params.radius = 0.01f;
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

}  // namespace
}  // namespace trocar
