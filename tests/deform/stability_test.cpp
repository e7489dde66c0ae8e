// Compares the highest frequency with a closed form, and tests its bound when cells are removed.
#include "deform/solid/elasticity.hpp"

#include <cmath>
#include <numeric>

#include "tests/deform/deform_support.hpp"

namespace trocar {
namespace {

std::vector<std::uint32_t> all_cells(const TissueModel& model) {
  std::vector<std::uint32_t> cells(model.lattice.cells.size());
  std::iota(cells.begin(), cells.end(), 0u);
  return cells;
}

// Tests a single full cell whose eight corners move out and in: with u = s at every corner (s its signs), the edges
// contribute 4 k1/4 each along one axis, the face diagonals 2 k2/2, the body diagonals k3, and the volume K h 3^2 / 4.
TEST(Stability, FrequencyOfASingleCellMatchesTheClosedForm) {
  TissueParams params;
  params.node_spacing = 0.01f;
  const TissueModel model = make_tissue(test::block(glm::vec3(0.01f)).view(), params, {});
  const double edge = spring_share(params, 1), face = spring_share(params, 2), body = spring_share(params, 3);
  // The force on a corner along x per unit of u comes from its edge along x (stretched by 2), two face diagonals and a
  // body diagonal.
  const double springs = 2.0 * edge + 2.0 * 2.0 * face + 2.0 * body;
  const double volume = volume_modulus(params) * params.node_spacing * 8.0 * 3.0 / 16.0;
  const double expected = std::sqrt((springs + volume) / (model.cell_mass / 8.0));
  EXPECT_NEAR(highest_frequency(model, all_cells(model)) / expected, 1.0, 0.01);
}

TEST(Stability, NoPieceIsFasterThanTheWhole) {
  const TissueModel model = make_tissue(shapes::icosphere(3, 0.05f).view(), {}, {});
  const std::vector<std::uint32_t> cells = all_cells(model);
  const double whole = highest_frequency(model, cells);
  for (std::size_t size : {1u, 8u, 60u})
    EXPECT_LE(highest_frequency(model, std::span(cells).first(size)), whole * 1.02);
}

TEST(Stability, DampingShortensTheSubstep) {
  TissueParams params;
  params.damping_time = 0.f;
  const float undamped = longest_substep(params, 1000.0);
  EXPECT_NEAR(undamped, std::sqrt(0.8f) * 2e-3f, 1e-6f);
  params.damping_time = 1e-3f;
  const float damped = longest_substep(params, 1000.0);
  EXPECT_LT(damped, undamped);
  // w^2 dt^2 + 2 beta w^2 dt = 4 * 0.8
  EXPECT_NEAR(1e6f * damped * damped + 2e3f * damped, 3.2f, 1e-3f);
  EXPECT_EQ(longest_substep(params, 0.0), INFINITY);
}

// Cells are removed one after another, some in the middle, some leaving isolated cells: the step stays stable.
TEST(Stability, SurvivesRemovalOfCells) {
  TissueParams params;
  params.node_spacing = 0.01f;
  TissueModel model = make_tissue(test::block(glm::vec3(0.05f)).view(), params, {});
  SteppedTissue state = rest_state(model);
  for (std::uint32_t i = 0; i < 100; ++i) {
    const std::uint32_t cell = i * 61 % static_cast<std::uint32_t>(model.lattice.cells.size());
    const float none = i % 3 == 0 ? 0.1f : 0.f;
    set_fullness(model, {&cell, 1}, {&none, 1});
    for (std::size_t n = 0; n < state.x.size(); ++n) state.x[n].x += 1e-5f * (n % 2 == 0 ? 1.f : -1.f);
    for (int frame = 0; frame < 10; ++frame) step(model, state, {}, 1.f / 60.f);
  }
  EXPECT_LT(test::farthest_from_rest(model, state), 5e-3f);
}

}  // namespace
}  // namespace trocar
