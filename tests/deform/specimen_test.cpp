// Validates the material-testing machine by closed forms, and its fit by a curve of a known material.
#include "deform/reference/specimen.hpp"

#include <cmath>
#include <cstdio>
#include <numbers>

#include "tests/deform/deform_support.hpp"

namespace trocar {
namespace {

const glm::dmat3 kUpright(1.0);

TissueParams material(float modulus, float poisson, float spacing) {
  TissueParams params;
  params.law = TissueLaw::Rising;
  params.youngs_modulus = modulus, params.poisson_ratio = poisson, params.node_spacing = spacing;
  params.density = 1100.f;
  return params;
}

// SOFA's validation beam: 20 x 20 x 200 mm, 2 MPa, 0.45, 1100 kg/m^3. Timoshenko: 32.75 mm.
double tip_drop(double spacing, double gravity) {
  const Specimen beam = make_specimen(make_block({0.02, 0.02, 0.2}, 0.5 * spacing),
                                      material(2e6f, 0.45f, static_cast<float>(spacing)), kUpright);
  SpecimenLoad load;
  load.lower = Grip::Plane, load.upper = Grip::Free;
  load.gravity = {gravity, 0.0, 0.0};
  const SpecimenAnswer answer = SpecimenSolver(beam).solve(load);
  EXPECT_EQ(answer.fault, "");
  EXPECT_NEAR(answer.end.x, answer.reference_end.x, 1e-3 * answer.end.x);
  return answer.end.x;
}

// The tip drop of the same beam by Reissner's theory, with large rotations and shear (Reissner, "On one-dimensional
// finite-strain beam theory", ZAMP 23, 1972; shear coefficient of a rectangle: Cowper 1966), by fixed-point iteration.
double reissner_drop(double gravity) {
  constexpr int kParts = 4000;
  constexpr double kLength = 0.2, kSide = 0.02, kModulus = 2e6, kPoisson = 0.45, kPart = kLength / kParts;
  const double area = kSide * kSide, bending = kModulus * area * area / 12.0, weight = 1100.0 * gravity * area;
  const double shear = 10.0 * (1.0 + kPoisson) / (12.0 + 11.0 * kPoisson) * kModulus / (2.0 * (1.0 + kPoisson)) * area;
  std::vector<double> turn(kParts), along(kParts);
  double drop = 0.0;
  for (int iteration = 0; iteration < 50; ++iteration) {
    drop = 0.0;
    for (int i = 0; i < kParts; ++i) {
      const double load = weight * (kLength - (i + 0.5) * kPart), c = std::cos(turn[i]), s = std::sin(turn[i]);
      const double stretched = 1.0 + load * s / (kModulus * area), sheared = load * c / shear;
      along[i] = (stretched * c - sheared * s) * load * kPart;  // N m, that it adds to the moment
      drop += (stretched * s + sheared * c) * kPart;
    }
    double moment = 0.0;
    std::vector<double> curved(kParts);
    for (int i = kParts - 1; i >= 0; --i) {
      curved[i] = (moment + 0.5 * along[i]) / bending * kPart;
      moment += along[i];
    }
    double angle = 0.0;
    for (int i = 0; i < kParts; ++i) turn[i] = angle + 0.5 * curved[i], angle += curved[i];
  }
  return drop;
}

TEST(Specimen, BeamSagsAsReissnersUnderItsWholeWeight) {
  EXPECT_NEAR(reissner_drop(0.001) / 0.001, 32.75e-3 / 9.81, 1e-5 * 0.35);  // small loads: Timoshenko
  const double theory = reissner_drop(9.81), coarse = tip_drop(0.01, 9.81), fine = tip_drop(0.005, 9.81);
  std::printf("tip drop: theory %.2f mm, 10 mm %.2f mm, 5 mm %.2f mm\n", 1e3 * theory, 1e3 * coarse, 1e3 * fine);
  EXPECT_NEAR(coarse / theory, 1.0, 0.03);
  EXPECT_NEAR(fine / theory, 1.0, 0.01);
}

TEST(Specimen, BeamSagsAsTimoshenkosOnFewNodes) {
  constexpr double kTheory = 32.75e-3 / 9.81;  // s^2
  EXPECT_NEAR(tip_drop(0.01, 0.01) / 0.01 / kTheory, 1.0, 0.03);
  EXPECT_NEAR(tip_drop(0.005, 0.01) / 0.01 / kTheory, 1.0, 0.01);
}

TEST(Specimen, CylinderTwistsAsTheory) {
  const TissueParams params = material(1e4f, 0.4f, 0.005f);
  const Specimen rod = make_specimen(make_cylinder(0.03, 0.06, 0.0025), params, kUpright);
  SpecimenLoad load;
  load.lower = load.upper = Grip::Clamp;
  load.twist = 0.02;
  const double shear = 1e4 / 2.8, polar = std::numbers::pi * std::pow(0.03, 4) / 32.0;
  const SpecimenAnswer answer = SpecimenSolver(rod).solve(load);
  EXPECT_NEAR(answer.step.torque / (shear * polar * 0.02 / 0.06), 1.0, 0.04);
  EXPECT_NEAR(answer.reference.torque, answer.step.torque, 1e-3 * answer.step.torque);
}

double force_at(const Specimen& specimen, Grip grip, double strain) {
  SpecimenLoad load;
  load.lower = load.upper = grip;
  load.press = strain * specimen.height;
  const SpecimenAnswer answer = SpecimenSolver(specimen).solve(load);
  EXPECT_EQ(answer.fault, "");
  EXPECT_NEAR(answer.step.push, answer.reference.push, 2e-3 * std::abs(answer.step.push));
  return answer.step.push;
}

TEST(Specimen, PlatesPressAndPull) {
  const TissueParams params = material(1e4f, 0.46f, 0.006f);
  const Specimen upright = make_specimen(make_cylinder(0.05, 0.03, 0.003), params, kUpright);
  const double area = std::numbers::pi * 0.025 * 0.025, slips = force_at(upright, Grip::Slip, 0.01);
  EXPECT_NEAR(slips / (1e4 * area * 0.01), 1.0, 0.03);
  EXPECT_NEAR(force_at(upright, Grip::Plane, -0.01) / slips, -1.0, 0.03);
  EXPECT_GT(force_at(upright, Grip::Stick, 0.01), 1.2 * slips);
  EXPECT_GT(force_at(upright, Grip::Slip, 0.4), 55.0 * slips);
  const double c = std::sqrt(0.75);
  const Specimen turned = make_specimen(make_cylinder(0.05, 0.03, 0.003), params, {c, 0, -0.5, 0, 1, 0, 0.5, 0, c});
  EXPECT_NEAR(force_at(turned, Grip::Slip, 0.01) / slips, 1.0, 0.03);
  EXPECT_NEAR(force_at(turned, Grip::Slip, 0.4) / force_at(upright, Grip::Slip, 0.4), 1.0, 0.04);
}

TEST(Specimen, ABallIndents) {
  const TissueParams params = material(1e4f, 0.45f, 0.005f);
  const Specimen block = make_specimen(make_block({0.05, 0.05, 0.03}, 0.0025), params, kUpright);
  SpecimenLoad load;
  load.lower = Grip::Stick, load.upper = Grip::Free;
  load.ball_radius = 0.01, load.press = 0.003;
  const SpecimenAnswer answer = SpecimenSolver(block).solve(load);
  EXPECT_EQ(answer.fault, "");
  // Hertz on a half space, and the factor of a bonded layer of this thickness: Dimitriadis et al., "Determination of
  // elastic moduli of thin layers of soft material using the atomic force microscope", Biophys. J. 82, 2002. The circle
  // of contact is about as wide as a cell.
  const double hertz = 4.0 / 3.0 * 1e4 / (1.0 - 0.45 * 0.45) * std::sqrt(0.01) * std::pow(0.003, 1.5);
  EXPECT_NEAR(answer.step.push / hertz, 1.25, 0.2);
}

TEST(Specimen, TheFitFindsTheMaterialOfACurve) {
  TissueParams known = material(8e3f, 0.48f, 0.01f);
  known.stiffening = 0.8f, known.late_stiffening = 0.3f;
  CurveTest test;
  test.mesh = make_cylinder(0.05, 0.03, 0.005);
  std::vector<CurvePoint> points;
  for (const double strain : {0.1, 0.2, 0.3, 0.4}) points.push_back({strain, 0.0, 0.0});
  const std::vector<double> force = curve_of(test, known, points);
  for (std::size_t i = 0; i < points.size(); ++i) points[i].force = force[i];
  const TissueParams found = fit_curve(test, material(1.f, 0.48f, 0.01f), points);
  EXPECT_NEAR(found.youngs_modulus / known.youngs_modulus, 1.0, 0.02);
  const std::vector<double> again = curve_of(test, found, points);
  for (std::size_t i = 0; i < points.size(); ++i) EXPECT_NEAR(again[i] / force[i], 1.0, 0.02);
}

TEST(Specimen, RefusesAMeshWithoutFlatEnds) {
  const TriangleMesh ball = shapes::icosphere(3, 0.02f);
  EXPECT_THROW(make_specimen(ball, material(1e4f, 0.45f, 0.005f), kUpright), InputError);
}

}  // namespace
}  // namespace trocar
