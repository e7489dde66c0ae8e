// Compares a cantilever and a hanging column with beam theory. Tests the period of the cantilever, and that the results
// do not depend on the time step.
#include <gtest/gtest.h>

#include <numbers>

#include "tests/deform/beams.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using test::Bar, test::Positions;
using test::beam_deflection, test::beam_period, test::column_sag;
using test::cantilever, test::end_movement, test::free_length;

// The beam is five cells thick and eight times as long. A lattice n cells thick bends less by about 1.5 / n^2, because
// its springs lie in layers.
const Bar kBeam{{0.256, 0.032, 0.032}};

TissueParams beam_params(const glm::vec3& gravity) {
  TissueParams params;
  params.node_spacing = 0.0064f;
  params.gravity = gravity;
  return params;
}

TEST(Beam, CantileverBendsAsTheorySays) {
  for (const glm::vec3 gravity : {glm::vec3(0.f, -0.006f, 0.f), glm::vec3(0.f, 0.004f, 0.004f)}) {
    TissueParams params = beam_params(gravity);
    params.drag = 3.f;
    const TissueModel model = cantilever(kBeam, params);
    const double theory = beam_deflection(params, kBeam.size.x, kBeam.size.y);
    EXPECT_LT(theory, 0.05 * kBeam.size.x);
    const Positions rest(model.rest.begin(), model.rest.end());
    const Positions slow = test::at_rest_by_reference(model, rest), fast = test::stepped(model, rest, 12.0);
    const double bent = glm::length(end_movement(model, kBeam, slow));
    EXPECT_NEAR(bent / theory, 1.0, 0.1);
    EXPECT_NEAR(glm::length(end_movement(model, kBeam, fast)) / bent, 1.0, 0.01);
    EXPECT_GT(glm::dot(end_movement(model, kBeam, slow), dvec3(gravity)) / bent / glm::length(gravity), 0.99);
  }
}

// A rotated bar has partly full cells, whose springs and masses are reduced in proportion.
TEST(Beam, CantileverAcrossTheLatticeBendsAsTheorySays) {
  for (const double turn : {0.35, std::numbers::pi / 4.0}) {
    const TissueParams params = beam_params({0.f, 0.f, -0.006f});
    const Bar bar{kBeam.size, turn};
    const TissueModel model = cantilever(bar, params);
    const Positions slow = test::at_rest_by_reference(model, Positions(model.rest.begin(), model.rest.end()));
    const double theory = beam_deflection(params, free_length(model, bar), bar.size.y);
    EXPECT_NEAR(glm::length(end_movement(model, bar, slow)) / theory, 1.0, 0.1);
  }
}

TEST(Beam, ColumnHangsAsTheorySays) {
  TissueParams params = beam_params({1.f, 0.f, 0.f});
  params.drag = 10.f;
  const TissueModel model = cantilever(kBeam, params);
  const double theory = column_sag(params, kBeam.size.x);
  const Positions rest(model.rest.begin(), model.rest.end());
  EXPECT_NEAR(end_movement(model, kBeam, test::at_rest_by_reference(model, rest)).x / theory, 1.0, 0.1);
  EXPECT_NEAR(end_movement(model, kBeam, test::stepped(model, rest, 4.0)).x / theory, 1.0, 0.1);
}

// Releases the beam from the shape bent by gravity, without damping, and measures the time between zero crossings of
// the deflection.
double measured_period(int substeps, float dt) {
  TissueParams params = beam_params({0.f, -0.004f, 0.f});
  params.damping_time = 0.f;
  params.drag = 0.f;
  params.substeps = substeps;
  TissueModel model = cantilever(kBeam, params);
  SteppedTissue state = rest_state(model);
  const Positions bent = test::at_rest_by_reference(model, Positions(model.rest.begin(), model.rest.end()));
  for (std::size_t i = 0; i < bent.size(); ++i) state.x[i] = glm::vec3(bent[i]);
  for (glm::vec3& g : model.gravity) g = glm::vec3(0.f);
  double before = -1.0, first = 0.0, last = 0.0;
  int crossings = 0;
  for (int i = 1; i * dt < 8.f; ++i) {
    step(model, state, {}, dt);
    const double now = end_movement(model, kBeam, test::positions_of(state)).y;
    if ((before < 0.0) != (now < 0.0)) {
      last = (i - 1 + before / (before - now)) * dt;
      if (crossings++ == 0) first = last;
    }
    before = now;
  }
  return crossings > 1 ? 2.0 * (last - first) / (crossings - 1) : 0.0;
}

TEST(Beam, CantileverSwingsAsTheorySays) {
  const double theory = beam_period(beam_params(glm::vec3(0.f)), kBeam.size.x, kBeam.size.y);
  const double coarse = measured_period(1, 1.f / 60.f), fine = measured_period(45, 1.f / 60.f);
  EXPECT_NEAR(coarse / theory, 1.0, 0.05);
  EXPECT_NEAR(fine / theory, 1.0, 0.05);
  EXPECT_NEAR(coarse / fine, 1.0, 0.005);
}

double sag(int substeps, float dt) {
  const Bar bar{{0.144, 0.048, 0.048}};
  TissueParams params;
  params.node_spacing = 0.012f;
  params.gravity = {1.f, 0.f, 0.f};
  params.drag = 20.f;
  params.substeps = substeps;
  const TissueModel model = cantilever(bar, params);
  return end_movement(model, bar, test::stepped(model, Positions(model.rest.begin(), model.rest.end()), 2.0, dt)).x;
}

TEST(Beam, SagDoesNotDependOnTheTimeStep) {
  const double reference = sag(1, 1.f / 60.f);
  for (const int substeps : {2, 5, 10, 20}) EXPECT_NEAR(sag(substeps, 1.f / 60.f) / reference, 1.0, 0.01) << substeps;
  for (const float rate : {30.f, 120.f, 250.f, 1000.f}) EXPECT_NEAR(sag(1, 1.f / rate) / reference, 1.0, 0.01) << rate;
  EXPECT_NEAR(sag(20, 1e-3f) / reference, 1.0, 0.01);
}

}  // namespace
}  // namespace trocar
