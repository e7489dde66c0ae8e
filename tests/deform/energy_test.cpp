// Tests the energy of organs that connective tissue joins: its gradient is minus the force of the real-time step, and
// agrees with finite differences of the energy.
#include "deform/reference/energy.hpp"

#include <cmath>
#include <random>

#include "deform/solid/elastic_forces.hpp"
#include "tests/deform/two_blocks.hpp"

namespace trocar {
namespace {

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
  add_bond_forces(group().model_list, group().state_list, blocks_.bonds);
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

}  // namespace
}  // namespace trocar
