// Beams: a cantilever and a hanging column against beam theory, the cantilever's period, and what the time step has to
// say in it: nothing.
// Source: Timoshenko, "Strength of materials", 1930; Cowper, "The shear coefficient in Timoshenko's beam theory", 1966.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/deform/deform_support.hpp"
#include "tests/deform/tissue_measures.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using test::Bar, test::Positions;

// Deflection of a cantilever's end under its own weight, bending and shear; a square section.
double beam_deflection(const TissueParams& p, double length, double side) {
  const double nu = p.poisson_ratio, shear = p.youngs_modulus / (2.0 * (1.0 + nu));
  const double coefficient = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu);
  const double load = p.density * glm::length(p.gravity);  // per length and area
  return load * std::pow(length, 4) / (8.0 * p.youngs_modulus * side * side / 12.0) +
         load * length * length / (2.0 * coefficient * shear);
}

// Period of its first mode: that of a thin beam, and of one that only shears, in series (Dunkerley).
double beam_period(const TissueParams& p, double length, double side) {
  const double nu = p.poisson_ratio, shear = p.youngs_modulus / (2.0 * (1.0 + nu));
  const double coefficient = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu);
  const double bending =
      1.8751 * 1.8751 * std::sqrt(p.youngs_modulus * side * side / (12.0 * p.density)) / (length * length);
  const double shearing = std::numbers::pi / (2.0 * length) * std::sqrt(coefficient * shear / p.density);
  return 2.0 * std::numbers::pi * std::sqrt(1.0 / (bending * bending) + 1.0 / (shearing * shearing));
}

double column_sag(const TissueParams& p, double length) {
  return p.density * glm::length(p.gravity) * length * length / (2.0 * p.youngs_modulus);
}

TissueModel cantilever(const Bar& bar, const TissueParams& params) {
  TissueModel model = make_tissue(bar.mesh().view(), params, {});
  test::fix_end(model, bar, -1.0);
  return model;
}

// From the last fixed node to the end: where nodes do not lie in the end's plane, less than the bar.
double free_length(const TissueModel& model, const Bar& bar) {
  double root = -0.5 * bar.size.x;
  for (std::size_t i = 0; i < model.rest.size(); ++i)
    if (model.inverse_mass[i] == 0.f) root = std::max(root, bar.along(model.rest[i]));
  return 0.5 * bar.size.x - root;
}

// Mean movement of the free end's nodes.
dvec3 end_movement(const TissueModel& model, const Bar& bar, const Positions& x) {
  dvec3 sum(0.0);
  double count = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (bar.along(model.rest[i]) > 0.5 * (bar.size.x - model.lattice.spacing))
      sum += x[i] - dvec3(model.rest[i]), count += 1.0;
  return sum / count;
}

// Five cells thick, eight times as long. A lattice n cells thick bends less by about 1.5 / n^2: its springs lie in
// layers.
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
    const Positions slow = test::judged(model, rest), fast = test::stepped(model, rest, 12.0);
    const double bent = glm::length(end_movement(model, kBeam, slow));
    EXPECT_NEAR(bent / theory, 1.0, 0.1);
    EXPECT_NEAR(glm::length(end_movement(model, kBeam, fast)) / bent, 1.0, 0.01);
    EXPECT_GT(glm::dot(end_movement(model, kBeam, slow), dvec3(gravity)) / bent / glm::length(gravity), 0.99);
  }
}

// A turned bar has cells that are partly full: springs weaker, mass less, in proportion.
TEST(Beam, CantileverAcrossTheLatticeBendsAsTheorySays) {
  for (const double turn : {0.35, std::numbers::pi / 4.0}) {
    const TissueParams params = beam_params({0.f, 0.f, -0.006f});
    const Bar bar{kBeam.size, turn};
    const TissueModel model = cantilever(bar, params);
    const Positions slow = test::judged(model, Positions(model.rest.begin(), model.rest.end()));
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
  EXPECT_NEAR(end_movement(model, kBeam, test::judged(model, rest)).x / theory, 1.0, 0.1);
  EXPECT_NEAR(end_movement(model, kBeam, test::stepped(model, rest, 4.0)).x / theory, 1.0, 0.1);
}

// Let go of, bent as gravity bends it, without damping: the time between crossings of the middle.
double measured_period(int substeps, float dt) {
  TissueParams params = beam_params({0.f, -0.004f, 0.f});
  params.damping_time = 0.f;
  params.drag = 0.f;
  params.substeps = substeps;
  TissueModel model = cantilever(kBeam, params);
  TissueState state = rest_state(model);
  const Positions bent = test::judged(model, Positions(model.rest.begin(), model.rest.end()));
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
