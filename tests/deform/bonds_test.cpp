// Tests bonds between organs: their stiffness against closed forms, conservation of momentum, energy, breaking, and
// that stiff bonds on nearly empty cells stay stable.
#include "deform/bonds.hpp"

#include <cmath>
#include <optional>
#include <random>

#include "deform/bond_cuts.hpp"
#include "deform/implicit_terms.hpp"
#include "deform/organs_step.hpp"
#include "tests/deform/deform_support.hpp"
#include "tests/deform/organ_group.hpp"
#include "tests/deform/peel.hpp"

namespace trocar {
namespace {

using test::OrganGroup;

constexpr float kFrame = 1.f / 60.f;  // s
constexpr float kSide = 0.04f;        // m  of a block

TissueParams floating() {
  TissueParams params;
  params.drag = 0.f;
  params.damping_time = 0.f;
  return params;
}

// Two blocks, the second on the first, with a common face of 40 x 40 mm at z = 40 mm.
class TwoBlocks {
 public:
  explicit TwoBlocks(const TissueParams& params, const glm::vec3& size = glm::vec3(kSide), float overlap = 0.f) {
    std::vector<TriangleMesh> meshes;
    std::vector<TissueModel> models;
    for (int k = 0; k < 2; ++k) {
      meshes.push_back(test::fine_block({0.f, 0.f, (size.z - overlap) * float(k)}, size, 0.004f));
      models.push_back(make_tissue(meshes.back().view(), params, {}));
    }
    group_.emplace(std::move(meshes), std::move(models));
    for (std::size_t k = 0; k < 2; ++k)
      organs_.push_back({&group_->models[k], group_->meshes[k].view(), &group_->contacts.field[k]});
  }

  OrganGroup& group() { return *group_; }
  std::span<const BondedOrgan> organs() const { return organs_; }
  Bonds bonds;

  // One step of `dt` seconds with bonds and without contacts.
  void step(float dt, OrganStepper& stepper) {
    if (bonds.slowdown.empty()) measure_slowdown(group_->model_list, bonds);
    std::vector<SteppedOrgan> stepped;
    for (std::size_t k = 0; k < 2; ++k) stepped.push_back({&group_->models[k], &group_->states[k], {}});
    OrganContacts none;
    stepper.step(stepped, none, bonds, dt);
  }

  // Breaks what is stretched too far in the present state.
  void break_stretched() {
    for (std::size_t k = 0; k < 2; ++k) begin_step(group_->models[k], group_->states[k], {});
    add_bond_forces(group_->model_list, group_->state_list, bonds);
  }

  std::vector<std::span<const glm::vec3>> nodes() const { return {group_->states[0].x, group_->states[1].x}; }

  glm::dvec3 pull_on_second() const {
    glm::dvec3 sum(0.0);
    for (std::size_t f = 0; f < bonds.fibres.size(); ++f) {
      if (!bonds.intact[f]) continue;
      const glm::dvec3 pull(pull_on_a(bonds.fibres[f], ends_of(bonds.fibres[f], group_->model_list, nodes())));
      sum += bonds.fibres[f].a.organ == 1 ? pull : -pull;
    }
    return sum;
  }

  // Returns the energy that symplectic Euler conserves for a linear system: kinetic and elastic energy minus
  // dt / 2 v . slope. Without the last term modes near the stability limit ripple.
  double energy(double dt) const {
    double sum = 0.0;
    for (std::size_t f = 0; f < bonds.fibres.size(); ++f) {
      if (!bonds.intact[f]) continue;
      const Fibre& fibre = bonds.fibres[f];
      const FibreEnds at = ends_of(fibre, group_->model_list, nodes());
      const FibreEnds speed = ends_of(
          fibre, group_->model_list, std::vector<std::span<const glm::vec3>>{group_->states[0].v, group_->states[1].v});
      const glm::dvec3 pull(pull_on_a(fibre, at));
      sum += energy_of(fibre, at) + 0.5 * dt * glm::dot(glm::dvec3(speed.a - speed.b), pull);
    }
    for (std::size_t k = 0; k < 2; ++k) {
      const TissueModel& model = group_->models[k];
      const SteppedTissue& state = group_->states[k];
      Expansion e;
      e.slope.assign(state.x.size(), glm::dvec3(0.0));
      const std::vector<glm::dvec3> x(state.x.begin(), state.x.end());
      add_springs(model, x, Curvature::None, e);
      add_volumes(model, x, Curvature::None, e);
      sum += e.energy;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const glm::dvec3 v(state.v[i]);
        sum += 0.5 * double(model.mass[i]) * glm::dot(v, v) - 0.5 * dt * glm::dot(v, e.slope[i]);
      }
    }
    return sum;
  }

 private:
  std::optional<OrganGroup> group_;
  std::vector<BondedOrgan> organs_;
};

AreaBondParams second_on_first() {
  AreaBondParams params;
  params.a = 1;
  params.b = 0;
  params.reach = 1e-4f;
  return params;
}

void shift(SteppedTissue& state, const glm::vec3& by) {
  for (glm::vec3& x : state.x) x += by;
}

// A layer of area A and thickness t pulls with E A d / t against a displacement d in any direction.
TEST(Bonds, AreaBondHasTheStiffnessOfItsLayer) {
  TwoBlocks blocks(floating());
  const AreaBondParams params = second_on_first();
  ASSERT_GT(add_area_bond(params, blocks.organs(), blocks.bonds), 100u);
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
    ASSERT_GT(add_area_bond(second_on_first(), blocks.organs(), blocks.bonds), 100u);
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
  band.section = 4e-5f;
  band.on_a = {glm::vec3(0.005f, 0.02f, kSide), glm::vec3(0.035f, 0.02f, kSide)};
  band.on_b = {glm::vec3(0.005f, 0.02f, 0.08f), glm::vec3(0.035f, 0.02f, 0.08f)};
  ASSERT_EQ(add_band(band, organs, bonds), 8u);
  measure_slowdown(group.model_list, bonds);
  OrganStepper stepper(1);
  OrganContacts none;
  for (int frame = 0; frame < 900; ++frame) {
    const SteppedOrgan stepped{&group.models[0], &group.states[0], {}};
    stepper.step(std::span(&stepped, 1), none, bonds, kFrame);
  }
  const std::vector<std::span<const glm::vec3>> nodes{group.states[0].x};
  double pull = 0.0, stretch = 0.0;
  for (const Fibre& fibre : bonds.fibres) {
    const FibreEnds ends = ends_of(fibre, group.model_list, nodes);
    pull += double(pull_on_a(fibre, ends).z);
    stretch += double(glm::distance(ends.a, ends.b) - fibre.free_length) / 8.0;
  }
  const double weight = 9.81 * group.mass(0), stiffness = double(band.modulus * band.section / kSide);
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
  AreaBondParams params = second_on_first();
  params.break_strain = 100.f;
  add_area_bond(params, blocks.organs(), blocks.bonds);
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

// With damping, the energy of bonded blocks never rises in 100,000 substeps. Without any it is bounded: it fluctuates,
// because the integrator conserves it exactly only for small motions, and does not drift.
TEST(Bonds, EnergyNeverGrows) {
  for (const float damping : {0.f, 3e-4f}) {
    TissueParams tissue = floating();
    tissue.damping_time = damping;
    tissue.node_spacing = 0.01f;
    TwoBlocks blocks(tissue, glm::vec3(0.03f));
    AreaBondParams params = second_on_first();
    params.break_strain = 100.f;
    add_area_bond(params, blocks.organs(), blocks.bonds);
    shift(blocks.group().states[1], {3e-4f, 2e-4f, 5e-4f});
    measure_slowdown(blocks.group().model_list, blocks.bonds);
    const int per_frame = substep_count(blocks.group().models[0], blocks.bonds.slowdown[0] * kFrame);
    const double dt = double(kFrame) / per_frame, start = blocks.energy(dt);
    OrganStepper stepper(1);
    double most = start, early = start;
    const int frames = 100000 / per_frame + 1;
    for (int frame = 0; frame < frames; ++frame) {
      blocks.step(kFrame, stepper);
      most = std::max(most, blocks.energy(dt));
      if (2 * frame <= frames) early = most;
    }
    const double end = blocks.energy(dt);
    std::printf("%d substeps, damping time %.1g s: energy %.3g J at first, at most %.4f of it, %.4f in the end\n",
                frames * per_frame, double(damping), start, most / start, end / start);
    EXPECT_LE(most, 1.02 * early);
    if (damping > 0.f) {
      EXPECT_LE(most, start);
      EXPECT_LT(end, 0.05 * start);
    } else {
      EXPECT_LT(most, 1.25 * start);
    }
  }
}

// Bonds as stiff as tendon, on blocks whose sides graze cells, stay finite and near rest.
TEST(Bonds, StiffBondsOnNearlyEmptyCellsAreStable) {
  for (const float graze : {0.0001f, 0.002f, 0.0041f}) {
    TissueParams tissue = floating();
    tissue.damping_time = 1e-4f;
    TwoBlocks blocks(tissue, glm::vec3(0.024f + graze));
    AreaBondParams params = second_on_first();
    params.modulus = 1e6f;
    ASSERT_GT(add_area_bond(params, blocks.organs(), blocks.bonds), 20u);
    measure_slowdown(blocks.group().model_list, blocks.bonds);
    EXPECT_GT(blocks.bonds.slowdown[0], 1.5f);
    blocks.group().states[1].v.assign(blocks.group().states[1].v.size(), {0.02f, 0.f, 0.02f});
    OrganStepper stepper(1);
    for (int frame = 0; frame < 200; ++frame) blocks.step(kFrame, stepper);
    const glm::dvec3 apart = blocks.group().centre(1) - blocks.group().centre(0);
    EXPECT_NEAR(glm::length(apart), 0.024 + double(graze), 1e-3) << graze;
  }
}

// The work that breaks a layer is E t strain^2 / 2 for each square metre.
TEST(Bonds, LayerBreaksWithItsFractureEnergy) {
  TwoBlocks blocks(floating());
  const AreaBondParams params = second_on_first();
  add_area_bond(params, blocks.organs(), blocks.bonds);
  const float apart = params.break_strain * params.thickness;
  OrganGroup& group = blocks.group();
  const std::vector<std::uint32_t>& broken = blocks.bonds.broken;
  shift(group.states[1], {0.f, 0.f, 0.999f * apart});
  blocks.break_stretched();
  EXPECT_TRUE(broken.empty());
  double energy = 0.0;
  for (const Fibre& fibre : blocks.bonds.fibres)
    energy += energy_of(fibre, ends_of(fibre, group.model_list, blocks.nodes()));
  const double expected = 0.5 * double(params.modulus * params.thickness * params.break_strain * params.break_strain) *
                          double(kSide * kSide);
  EXPECT_NEAR(energy, expected, 5e-3 * expected);
  shift(group.states[1], {0.f, 0.f, 0.002f * apart});
  blocks.break_stretched();
  EXPECT_EQ(broken.size(), blocks.bonds.fibres.size());
}

// Steady peeling takes at least the fracture energy of the layer for each area that comes loose. Rows of fibres snap
// one after the other and lose what the soft bed stores; finer rows lose less. The force is proportional to the width.
TEST(Bonds, PeelingTakesTheFractureEnergy) {
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
TEST(Bonds, FibresBreakForGood) {
  TwoBlocks blocks(floating());
  AreaBondParams params = second_on_first();
  params.break_strain = 0.5f;
  const std::size_t count = add_area_bond(params, blocks.organs(), blocks.bonds);
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
      EXPECT_GT(strain_of(fibre, ends_of(fibre, group.model_list, blocks.nodes())), 0.5f);
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

TEST(Bonds, FibresOfRemovedTissueBreak) {
  TwoBlocks blocks(floating());
  const std::size_t count = add_area_bond(second_on_first(), blocks.organs(), blocks.bonds);
  TissueModel& model = blocks.group().models[0];
  std::vector<std::uint32_t> cells;
  for (std::uint32_t c = 0; c < model.lattice.cells.size(); ++c)
    if (model.lattice.position(model.lattice.cells[c].node[0]).x < 0.015f) cells.push_back(c);
  set_fullness(model, cells, std::vector<float>(cells.size(), 0.f));
  break_loose_fibres(blocks.group().model_list, blocks.bonds);
  const std::vector<std::uint32_t>& broken = blocks.bonds.broken;
  EXPECT_GT(broken.size(), count / 4);
  EXPECT_LT(broken.size(), 3 * count / 4);
  for (const std::uint32_t f : broken) EXPECT_EQ(model.lattice.cells[blocks.bonds.fibres[f].b.cell].fullness, 0.f);
}

// Hot metal cuts the fibres within its radius and no others; blades those that their region crosses.
TEST(Bonds, MetalAndBladesCutWhatTheyReach) {
  TwoBlocks blocks(floating());
  add_area_bond(second_on_first(), blocks.organs(), blocks.bonds);
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
  cut.clear();
  EXPECT_GT(expected, 5u);
  // A square of 20 x 20 mm upright at x = 28 mm, between y = 10 and 30 mm.
  BladeCut blades{{0.028f, 0.01f, kSide - 0.01f}, {0, 1, 0}, {0, 0, 1}, {}, 4};
  blades.outline = {glm::vec2(0.f), {0.02f, 0.f}, {0.02f, 0.02f}, {0.f, 0.02f}};
  snip_fibres(blades, group.model_list, group.state_list, blocks.bonds);
  EXPECT_GT(cut.size(), 3u);
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
TEST(Bonds, BladesCutAStrandThatTheyCross) {
  TwoBlocks blocks(floating());
  BandParams band;
  band.a = 0;
  band.on_a = {glm::vec3(0.02f, 0.01f, 0.02f), glm::vec3(0.02f, 0.03f, 0.02f)};
  band.on_b = {glm::vec3(0.10f, 0.01f, 0.02f), glm::vec3(0.10f, 0.03f, 0.02f)};
  ASSERT_EQ(add_band(band, blocks.organs(), blocks.bonds), 8u);
  BladeCut blades{{0.06f, 0.02f, 0.01f}, {0, 1, 0}, {0, 0, 1}, {}, 3};
  blades.outline = {glm::vec2(0.f), {0.02f, 0.f}, {0.f, 0.02f}};
  snip_fibres(blades, blocks.group().model_list, blocks.group().state_list, blocks.bonds);
  EXPECT_EQ(blocks.bonds.broken, (std::vector<std::uint32_t>{4, 5, 6, 7})) << "the strands beyond y = 20 mm";
}

TEST(Bonds, WithoutContactOrFullCellsThereAreNone) {
  TwoBlocks blocks(floating());
  AreaBondParams params = second_on_first();
  params.centre = {1.f, 0.f, 0.f};
  params.radius = 0.01f;
  EXPECT_EQ(add_area_bond(params, blocks.organs(), blocks.bonds), 0u);
  BandParams band;
  band.on_a = {glm::vec3(1.f), glm::vec3(2.f)};
  EXPECT_EQ(add_band(band, blocks.organs(), blocks.bonds), 0u) << "the lattice is a metre away";
  EXPECT_TRUE(blocks.bonds.empty());
}

TEST(Bonds, ThreadCountDoesNotChangeTheBits) {
  const auto hash_after = [](int threads) {
    TwoBlocks blocks(floating());
    add_area_bond(second_on_first(), blocks.organs(), blocks.bonds);
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
