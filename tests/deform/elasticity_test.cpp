// Tests that the tissue has the stated modulus and Poisson's ratio: stretches and compresses blocks, along the lattice
// and across it. Modulus: force per area at rest over strain, in the middle half of a bar clamped at its ends. Under a
// strain of 10 % the energy's own secant modulus is 0.5 % below E in tension and 4 % above it in compression.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "deform/step.hpp"
#include "tests/deform/deform_support.hpp"
#include "tests/deform/tissue_measures.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using test::Bar, test::Positions, test::Pulled;

constexpr double kDiagonal = std::numbers::pi / 4.0;

TissueParams quickly_settling(float spacing) {
  TissueParams params;
  params.node_spacing = spacing;
  params.drag = 20.f;
  return params;
}

Pulled pulled(const Bar& bar, const TissueParams& params, double strain) {
  const TissueModel model = test::clamped_bar(bar, params);
  return test::measure(model, bar, test::stepped(model, test::clamped_and_stretched(model, bar, strain), 1.0));
}

TEST(Measures, RecoverAnAffineMap) {
  const Bar bar{{0.1, 0.04, 0.03}, 0.3};
  TissueModel model = test::clamped_bar(bar, quickly_settling(0.01f));
  const Positions rest(model.rest.begin(), model.rest.end());
  EXPECT_LT(glm::length(test::end_force(model, bar, 1.0, rest)), 1e-5);
  const Positions x = test::stretched(model, bar, 0.07);
  const Pulled found = test::measure(model, bar, x);
  EXPECT_NEAR(found.strain, 0.07, 1e-6);
  EXPECT_NEAR(found.poisson, 0.46, 1e-5);
  EXPECT_NEAR(found.volume, 1.07 * (1.0 - 0.46 * 0.07) * (1.0 - 0.46 * 0.07), 1e-6);
}

TEST(Elasticity, BarHasTheStatedModulusAlongTheLatticeAndAcrossIt) {
  for (const float modulus : {2000.f, 6000.f, 12000.f})
    for (const float spacing : {0.008f, 0.012f, 0.016f})
      for (const double strain : {0.1, -0.1}) {
        SCOPED_TRACE(testing::Message() << modulus << " Pa, " << spacing << " m, strain " << strain);
        TissueParams params = quickly_settling(spacing);
        params.youngs_modulus = modulus;
        const dvec3 size(0.192, 0.048, 0.048);
        const double along = pulled({size, 0.0}, params, strain).modulus / modulus;
        const double across = pulled({size, kDiagonal}, params, strain).modulus / modulus;
        EXPECT_NEAR(along, 1.0, 0.1);
        EXPECT_NEAR(across, 1.0, 0.1);
        EXPECT_NEAR(across / along, 1.0, 0.15);
      }
}

TEST(Elasticity, ReferenceSolverAndStepAgree) {
  for (const double turn : {0.0, kDiagonal, 0.35})
    for (const double strain : {0.1, -0.1}) {
      const Bar bar{{0.192, 0.048, 0.048}, turn};
      const TissueModel model = test::clamped_bar(bar, quickly_settling(0.016f));
      const Positions begin = test::clamped_and_stretched(model, bar, strain);
      const Positions slow = test::at_rest_by_reference(model, begin), fast = test::stepped(model, begin, 1.5);
      EXPECT_NEAR(test::measure(model, bar, fast).modulus / test::measure(model, bar, slow).modulus, 1.0, 1e-3);
      for (std::size_t i = 0; i < slow.size(); ++i) EXPECT_LT(glm::distance(slow[i], fast[i]), 1e-5);
    }
}

// At small strain the ratio is the requested one. At ten per cent it is that of the springs, 0.43 in tension and 0.49
// in compression.
TEST(Elasticity, PoissonsRatioIsTheStatedOne) {
  for (const float poisson : {0.25f, 0.4f, 0.46f}) {
    TissueParams params = quickly_settling(0.012f);
    params.poisson_ratio = poisson;
    EXPECT_NEAR(pulled({{0.192, 0.048, 0.048}}, params, 0.01).poisson, poisson, 0.01);
    EXPECT_NEAR(pulled({{0.192, 0.048, 0.048}, kDiagonal}, params, 0.01).poisson, poisson, 0.025);
  }
}

TEST(Elasticity, VolumeIsKeptUnderCompressionByAFifth) {
  for (const double turn : {0.0, kDiagonal}) {
    const Pulled middle = pulled({{0.12, 0.048, 0.048}, turn}, quickly_settling(0.008f), -0.2);
    EXPECT_LT(middle.strain, -0.18);
    EXPECT_NEAR(middle.volume, 1.0, 0.03);
  }
}

// A block on the floor under a tool so thick that it acts as a plate: the force is area times modulus times strain.
TEST(Elasticity, ForceOnAPlateMatchesTheModulus) {
  TriangleMesh mesh = test::block({0.048f, 0.144f, 0.048f});
  std::vector<TissueContact> contacts;
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 7; ++j) {
      contacts.push_back({0, static_cast<std::uint32_t>(mesh.positions.size()), {0.f, 1.f, 0.f}});
      mesh.positions.push_back({0.008f * i, 0.144f, 0.008f * j});
    }
  TissueParams params = quickly_settling(0.012f);
  params.friction = 0.f;
  TissueModel model = make_tissue(mesh.view(), params, {});
  for (std::size_t i = 0; i < model.rest.size(); ++i)
    if (model.rest[i].y < 1e-4f) test::fix(model, i);
  const double radius = 4.0, down = 0.05 * 0.144;
  const auto plate = [&](double from, double to) {
    const dvec3 middle(0.024, 0.144 + radius + kContactSlack, 0.024);
    return ToolStep{middle + dvec3(0.0, 1.0, 0.0), middle - dvec3(0.0, from, 0.0), middle - dvec3(0.0, to, 0.0),
                    radius};
  };
  SteppedTissue state = rest_state(model);
  glm::vec3 force(0.f);
  for (int i = 0; i < 120; ++i) {
    const ToolStep tool = plate(down * std::min(i / 30.0, 1.0), down * std::min((i + 1) / 30.0, 1.0));
    force = step(model, state, {{&tool, 1}, contacts, {}}, 1.f / 60.f);
  }
  const double wanted = 6000.0 * 0.048 * 0.048 * 0.05;
  ImplicitState implicit = implicit_rest(model);
  const ToolStep tool = plate(down, down);
  const ImplicitResult answer = implicit_equilibrium(model, implicit, {{&tool, 1}, contacts, {}});
  EXPECT_TRUE(answer.balanced);
  EXPECT_NEAR(answer.tool_force[0].y / wanted, 1.0, 0.1);
  EXPECT_NEAR(force.y / answer.tool_force[0].y, 1.0, 0.05);
  EXPECT_NEAR(std::hypot(force.x, force.z), 0.0, 0.02 * force.y);
}

}  // namespace
}  // namespace trocar
