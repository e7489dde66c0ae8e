// Validates the law `rising`: its derivatives by finite differences, the forces of the step by the gradient of the
// energy, the moduli at small strain, the stability of the step.
#include "deform/solid/elasticity.hpp"

#include <cmath>
#include <random>

#include "deform/reference/energy.hpp"
#include "deform/solid/elastic_forces.hpp"
#include "tests/deform/deform_support.hpp"

namespace trocar {
namespace {

using glm::dvec3;
using Positions = std::vector<dvec3>;

TissueParams rising(float stiffening, float late) {
  TissueParams params;
  params.law = TissueLaw::Rising;
  params.stiffening = stiffening, params.late_stiffening = late;
  params.node_spacing = 0.01f;
  return params;
}

// Its cells are full and partly full: no side is a multiple of the spacing.
TissueModel odd_block(const TissueParams& params) {
  return make_tissue(test::block({0.034f, 0.026f, 0.023f}).view(), params, {});
}

// Pressed to `thinner` of its height, sheared and shaken.
Positions deformed(const TissueModel& model, double thinner, unsigned seed) {
  std::mt19937 random(seed);
  Positions x(model.rest.begin(), model.rest.end());
  const double wider = 1.0 / std::sqrt(thinner);
  for (dvec3& p : x) {
    const auto shake = [&] { return 0.0004 * (static_cast<double>(random()) / random.max() - 0.5); };
    const double a = shake(), b = shake(), c = shake();
    p = dvec3(wider * p.x + 0.2 * p.z, wider * p.y, thinner * p.z) + dvec3(a, b, c);
  }
  return x;
}

Expansion expansion(const TissueModel& model, const Positions& x, Curvature curvature) {
  Expansion out;
  out.slope.assign(x.size(), dvec3(0.0));
  add_springs(model, x, curvature, out);
  add_volumes(model, x, curvature, out);
  return out;
}

NodeColumns columns(const Positions& x) {
  NodeColumns c;
  for (auto* axis : {&c.x, &c.y, &c.z}) axis->assign(x.size() + 2 * kLanes, 0.f);
  for (std::size_t i = 0; i < x.size(); ++i) c.x[i] = float(x[i].x), c.y[i] = float(x[i].y), c.z[i] = float(x[i].z);
  return c;
}

TEST(Matrix, RiseHasItsDerivatives) {
  for (const double s : {-3.0, -0.3, 0.0, 1e-5, 0.7, 8.0})
    for (const double r : {0.0, 0.4, 30.0})
      for (const double q : {-0.1, 1e-5, 0.02, 0.3, 1.5, 6.0}) {
        const double d = 1e-6 * (1.0 + std::abs(q));
        const Rise low = rise_of(s, r, q - d), here = rise_of(s, r, q), high = rise_of(s, r, q + d);
        if ((q - d) * (q + d) < 0.0) continue;
        EXPECT_NEAR((high.energy - low.energy) / (2.0 * d), here.slope, 1e-6 * here.slope) << s << " " << r << " " << q;
        EXPECT_NEAR((high.slope - low.slope) / (2.0 * d), here.second, 1e-5 * (1.0 + std::abs(here.second)))
            << s << " " << r << " " << q;
      }
}

TEST(Matrix, GradientAndCurvatureAreThoseOfTheEnergy) {
  std::mt19937 random(7);
  for (const auto& [s, r] : {std::pair(0.0f, 0.f), {1.5f, 0.f}, {-0.6f, 0.4f}}) {
    const TissueModel model = odd_block(rising(s, r));
    const Positions x = deformed(model, 0.7, 3);
    Positions change(x.size());
    for (dvec3& c : change)
      for (int k = 0; k < 3; ++k) c[k] = static_cast<double>(random()) / random.max() - 0.5;
    constexpr double kStep = 1e-7;  // m
    Positions low = x, high = x;
    for (std::size_t i = 0; i < x.size(); ++i) low[i] -= kStep * change[i], high[i] += kStep * change[i];
    const Expansion here = expansion(model, x, Curvature::Exact), below = expansion(model, low, Curvature::None),
                    above = expansion(model, high, Curvature::None);
    Positions product(x.size(), dvec3(0.0));
    for (const CurvatureBlock& block : here.curvature) {
      product[block.row] += block.value * change[block.column];
      if (block.row != block.column) product[block.column] += glm::transpose(block.value) * change[block.row];
    }
    double along = 0.0, error = 0.0, size = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      along += glm::dot(here.slope[i], change[i]);
      const dvec3 difference = (above.slope[i] - below.slope[i]) / (2.0 * kStep);
      error += glm::dot(difference - product[i], difference - product[i]), size += glm::dot(product[i], product[i]);
    }
    EXPECT_NEAR((above.energy - below.energy) / (2.0 * kStep), along, 1e-6 * std::abs(along) + 1e-8);
    EXPECT_LT(std::sqrt(error / size), 1e-5);
  }
}

TEST(Matrix, ForcesOfTheStepAreMinusTheGradient) {
  for (const auto& [s, r] : {std::pair(0.0f, 0.f), {2.f, 0.f}, {-0.6f, 0.4f}}) {
    const TissueModel model = odd_block(rising(s, r));
    const Positions x = deformed(model, 0.6, 5);
    const Expansion exact = expansion(model, x, Curvature::None);
    NodeColumns force = columns(Positions(x.size()));
    add_elastic_forces(model, columns(x), force);
    double largest = 0.0;
    for (const dvec3& slope : exact.slope) largest = std::max(largest, glm::length(slope));
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_LT(glm::length(dvec3(force.x[i], force.y[i], force.z[i]) + exact.slope[i]), 1e-4 * largest) << i;
  }
}

// A uniform small strain of the whole lattice stores the energy of an isotropic solid, in any direction.
TEST(Matrix, ModuliAtSmallStrainAreThoseStated) {
  const TissueParams params = rising(3.f, 5.f);
  const TissueModel model = make_tissue(test::block({0.03f, 0.02f, 0.02f}).view(), params, {});
  const double mu = shear_modulus(params), nu = params.poisson_ratio, lame = 2.0 * mu * nu / (1.0 - 2.0 * nu);
  const double volume = 0.03 * 0.02 * 0.02;
  const glm::dmat3 strains[] = {
      {1, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 1, 0, 1, 0, 0, 0, 0, 0}, {1, 0.3, 0, 0.3, -2, 0.5, 0, 0.5, 1}};
  for (const glm::dmat3& shape : strains) {
    constexpr double kStrain = 1e-4;
    Positions x(model.rest.begin(), model.rest.end());
    for (dvec3& p : x) p += kStrain * (shape * p);
    const double trace = shape[0][0] + shape[1][1] + shape[2][2];
    double square = 0.0;
    for (int k = 0; k < 3; ++k) square += glm::dot(shape[k], shape[k]);
    const double wanted = kStrain * kStrain * volume * (mu * square + 0.5 * lame * trace * trace);
    EXPECT_NEAR(expansion(model, x, Curvature::None).energy / wanted, 1.0, 2e-3);
  }
}

TEST(Matrix, StrongStiffeningStaysStableInTheStep) {
  TissueParams params = rising(20.f, 10.f);
  const Attachment below{{0.017f, 0.013f, -0.003f}, 0.018f};
  const TissueModel model = make_tissue(test::block({0.034f, 0.026f, 0.023f}).view(), params, {&below, 1});
  SteppedTissue state = rest_state(model);
  for (std::size_t i = 0; i < state.x.size(); ++i)
    if (model.inverse_mass[i] > 0.f) state.x[i] *= glm::vec3(1.4f, 1.3f, 0.55f);
  for (int i = 0; i < 60; ++i) step(model, state, {}, 1.f / 60.f);
  double farthest = 0.0;
  for (std::size_t i = 0; i < state.x.size(); ++i)
    farthest = std::max(farthest, static_cast<double>(glm::distance(state.x[i], model.rest[i])));
  EXPECT_LT(farthest, 3e-4);  // 1 % of its size
}

TEST(Matrix, TheStepComesToRestWhereTheReferenceIs) {
  TissueParams params = rising(2.f, 1.f);
  params.youngs_modulus = 1500.f, params.drag = 20.f;
  params.gravity = {0.f, 4.f, -9.81f};
  const Attachment above{{0.01f, 0.01f, 0.06f}, 0.0155f};
  const TissueModel model = make_tissue(test::block({0.02f, 0.02f, 0.06f}).view(), params, {&above, 1});
  SteppedTissue state = rest_state(model);
  for (int i = 0; i < 240; ++i) step(model, state, {}, 1.f / 60.f);
  ImplicitState reference = implicit_rest(model);
  EXPECT_TRUE(implicit_equilibrium(model, reference, {}).balanced);
  double apart = 0.0, moved = 0.0;
  for (std::size_t i = 0; i < state.x.size(); ++i) {
    apart = std::max(apart, glm::length(dvec3(state.x[i]) - reference.x[i]));
    moved = std::max(moved, glm::length(reference.x[i] - dvec3(model.rest[i])));
  }
  EXPECT_GT(moved, 0.008);
  EXPECT_LT(apart, 0.01 * moved);
}

TEST(Matrix, TheOtherLawHasNone) {
  TissueParams params;
  params.stiffening = 3.f;
  EXPECT_TRUE(odd_block(params).centre.empty());
  params.late_stiffening = -1.f;
  EXPECT_THROW(odd_block(params), InputError);
}

}  // namespace
}  // namespace trocar
