// Tests the dent of a tool below the scale of the lattice: its law against Hertz, the force of a ball pressed into a
// block against Hertz and Dimitriadis at many places of a cell, and that no press or drag gains energy.
#include <numbers>

#include "deform/reference/specimen.hpp"
#include "tests/deform/deform_support.hpp"
#include "tests/deform/organ_group.hpp"
#include "tests/deform/tissue_measures.hpp"
#include "tests/geometry/random_steps.hpp"
#include "tests/support/test.hpp"

namespace {

using namespace trocar;
using std::numbers::pi;

constexpr double kModulus = 7500.0;  // Pa, E*

// A place where the lattice gives nothing: the dent is all that the solid does.
DentPlace on_stiff_lattice(double radius, double length = 0.0) {
  return {static_cast<float>(radius), static_cast<float>(length), 0.f, 1e-6f, 0.f, 0.f, static_cast<float>(kModulus)};
}

TEST(Dent, OfABallIsThatOfHertz) {
  for (const double radius : {0.5e-3, 2.5e-3, 5e-3})
    for (const double share : {1e-3, 0.05, 0.3, 0.9}) {
      const double depth = share * radius, force = 4.0 / 3.0 * kModulus * std::sqrt(radius) * std::pow(depth, 1.5);
      EXPECT_NEAR(dent_shift(on_stiff_lattice(radius), force) / depth, 1.0, 0.002) << radius << ' ' << share;
    }
}

// The mean depth along the middle of a strip of half-ellipsoidal pressure, by quadrature of Boussinesq's solution.
TEST(Dent, OfACylinderIsThatOfItsPressure) {
  const double radius = 1e-3, length = 0.01;
  for (const double a : {1e-4, 3e-4, 9e-4}) {
    const double force = pi / 4.0 * kModulus * length * a * a / radius;
    double depth = 0.0;
    constexpr int kSteps = 20000;
    for (int i = 0; i < kSteps; ++i) {
      const double u = -1.0 + 2.0 * (i + 0.5) / kSteps;
      depth += 2.0 / kSteps * 2.0 / pi * std::sqrt(1.0 - u * u) * mean_over_line(std::abs(u) * a, length);
    }
    depth *= force / (pi * kModulus);
    // The ends of the line carry as half balls do.
    EXPECT_NEAR(dent_shift(on_stiff_lattice(radius, length), force) / depth, 1.0, 0.06) << a;
  }
}

TEST(Dent, MeanOverALineIsThatOfItsPairs) {
  test::Dice dice(4701);
  for (const double length : {0.0, 1e-4, 2e-3, 0.05})
    for (const double e : {1e-4, 1e-3}) {
      double sum = 0.0;
      constexpr int kSteps = 2000;  // the density of a distance r between two points is 2 (length - r) / length^2
      for (int i = 0; i < kSteps; ++i) {
        const double t = (i + 0.5) / kSteps, r = length * t * t;
        sum += 4.0 * t * (1.0 - t * t) / kSteps / std::sqrt(r * r + e * e);
      }
      EXPECT_NEAR(mean_over_line(e, length) / sum, 1.0, 1e-3) << length << ' ' << e;
    }
}

DentPlace any_place(test::Dice& dice) {
  const auto length = static_cast<float>(dice.log_uniform(1e-4, 0.05));
  return {static_cast<float>(dice.log_uniform(1e-4, 0.01)),    length,
          length * static_cast<float>(dice.uniform(0.0, 1.0)), static_cast<float>(dice.log_uniform(10.0, 2000.0)),
          static_cast<float>(dice.log_uniform(1e-5, 5e-3)),    static_cast<float>(dice.log_uniform(1e-9, 1e-4)),
          static_cast<float>(dice.log_uniform(500.0, 1e6))};
}

TEST(Dent, ForceAndShiftAreInverseAndTheStiffnessIsTheSlope) {
  test::Dice dice(4702);
  std::printf("seed 4702\n");
  for (int i = 0; i < 3000; ++i) {
    const DentPlace place = any_place(dice);
    const double force = dice.log_uniform(1e-4, 10.0), shift = dent_shift(place, force);
    ASSERT_GT(shift, 0.0);
    const DentForce back = dent_force(place, shift);
    EXPECT_NEAR(back.force / force, 1.0, 1e-3) << i;
    EXPECT_GT(back.stiffness, 0.0);
    const double further = dent_force(place, 1.01 * shift).force;
    EXPECT_GE(further, back.force * (1.0 - 1e-6)) << i;
  }
  EXPECT_EQ(dent_force(any_place(dice), 0.0).force, 0.0);
}

// The lattice answers a contact itself that is wide against its cells.
TEST(Dent, VanishesWithTheSpacing) {
  DentPlace place = on_stiff_lattice(5e-3);
  place.spread = 5.f / (3.f * static_cast<float>(pi)) * 2.5e-3f;
  place.hollow = 0.4f * 2.5e-3f * 2.5e-3f;
  const double force = 4.0 / 3.0 * kModulus * 2.5e-3 * 2.5e-3 * 2.5e-3 / 5e-3, alone = dent_shift(place, force);
  double before = alone;
  for (const double spacing : {0.008, 0.004, 0.002, 0.001}) {
    place.closeness = static_cast<float>(1.0 / std::hypot(static_cast<double>(place.spread), 0.4 * spacing));
    const double shift = dent_shift(place, force);
    EXPECT_LT(shift, 0.7 * before) << spacing;
    before = shift;
  }
  EXPECT_LT(before, 0.06 * alone);
}

// The energy is the work of the force over the shift.
TEST(Dent, EnergyIsTheIntegralOfTheForce) {
  test::Dice dice(4705);
  for (int i = 0; i < 200; ++i) {
    const DentPlace place = any_place(dice);
    const double shift = dent_shift(place, dice.log_uniform(1e-3, 3.0));
    double work = 0.0;
    constexpr int kSteps = 400;
    for (int k = 0; k < kSteps; ++k) work += shift / kSteps * dent_force(place, shift * (k + 0.5) / kSteps).force;
    EXPECT_NEAR(dent_energy(place, shift) / work, 1.0, 0.03) << i;
  }
}

// A block on a base to which it is glued, under a ball.
struct Block {
  TriangleMesh mesh;
  TissueModel model;
  double top, middle;  // m

  Block(double side, double height, double spacing, const TissueParams& from = {}) {
    mesh = test::fine_block({0.f, 0.f, 0.f}, glm::vec3(side, side, height), 0.0025f);
    TissueParams params = from;
    params.node_spacing = static_cast<float>(spacing);
    model = make_tissue(mesh.view(), params, {});
    for (std::size_t i = 0; i < model.rest.size(); ++i)
      if (model.rest[i].z < 0.3 * spacing) test::fix(model, i);
    top = height, middle = 0.5 * side;
  }
  // A corner of a cell near the middle.
  glm::dvec2 corner() const {
    const glm::dvec2 first(model.rest[0]);
    const double h = model.lattice.spacing;
    return first + h * glm::floor((glm::dvec2(middle) - first) / h);
  }
};

struct Case {
  double radius, spacing, height;  // m
};

// A frictionless ball at nine places of a cell, up to half its radius deep: within 15 % of Hertz, and a tenth from
// place to place. Deeper, the material itself departs from Hertz (bench/touch_places.cpp).
TEST(Dent, ABallFeelsTheTissueAtEveryPlaceOfACell) {
  TissueParams params;
  params.friction = 0.f;
  for (const Case& pressed :
       {Case{2.5e-3, 9e-3, 0.036}, {5e-3, 9e-3, 0.036}, {2.5e-3, 5e-3, 0.01}, {5e-3, 5e-3, 0.03}}) {
    const double radius = pressed.radius, spacing = pressed.spacing, height = pressed.height;
    const Block block(0.063, height, spacing, params);
    std::vector<double> ratio;
    for (int i = 0; i < 9; ++i) {
      const glm::dvec2 at = block.corner() + spacing / 3.0 * glm::dvec2(i % 3, i / 3);
      test::Press press{block.mesh, block.model};
      const auto tip = [&](double depth) { return glm::dvec3(at, block.top + radius - depth); };
      glm::vec3 force(0.f);
      const double depth = 0.5 * radius;
      for (int k = 0; k < 40; ++k) {
        const auto down = [&](int frame) { return depth * std::min(frame / 20.0, 1.0); };
        force = press.frame({tip(-0.3), tip(down(k)), tip(down(k + 1)), radius}, 1.f / 60.f);
      }
      ratio.push_back(static_cast<double>(force.z) / hertz_on_layer(6000.0, 0.46, radius, depth, height));
    }
    const auto [low, high] = std::minmax_element(ratio.begin(), ratio.end());
    const double least = *low, most = *high;
    std::printf("radius %.1f mm, spacing %.0f mm, %.0f mm thick: %.3f to %.3f of Hertz\n", 1e3 * radius, 1e3 * spacing,
                1e3 * height, least, most);
    EXPECT_GT(least, 0.85);
    EXPECT_LT(most, 1.15);
    EXPECT_LT(most / least, 1.10);
  }
}

// What a tool does on the tissue in presses and drags along random paths that begin and end outside it, J.
struct Work {
  double done = 0.0, put_in = 0.0;  // in all; in the strokes in which the tissue resists
};

Work stroke(test::Dice& dice, const Block& block, double radius) {
  test::Press press{block.mesh, block.model};
  const auto any = [&](double half) { return dice.uniform(-half, half); };
  // Down at one place, along two straight ways in the tissue, and up again; then the tissue comes to rest.
  const double deep = dice.uniform(0.2, 1.6) * radius, speed = dice.log_uniform(0.01, 0.3);
  std::vector<glm::dvec3> way;
  const double above = block.top + radius + 0.001, low = block.top + radius - deep;
  glm::dvec3 at(block.middle + any(0.008), block.middle + any(0.008), above);
  way.push_back(at);
  at.z = low;
  way.push_back(at);
  for (int k = 0; k < 2; ++k) way.push_back(at += glm::dvec3(any(0.006), any(0.006), any(0.3 * deep)));
  at.z = above;
  way.push_back(at);
  Work work;
  glm::dvec3 tip = way[0];
  const auto go = [&](const glm::dvec3& to) {
    const ToolStep tool{to + glm::dvec3(0.0, 0.0, 0.3), tip, to, radius};
    const double done = -glm::dot(glm::dvec3(press.frame(tool, 1.f / 240.f)), to - tip);
    work.done += done, work.put_in += std::max(done, 0.0);
    tip = to;
  };
  for (std::size_t k = 1; k < way.size(); ++k) {
    const glm::dvec3 from = way[k - 1];
    const int frames = std::max(2, static_cast<int>(240.0 * glm::distance(from, way[k]) / speed));
    for (int i = 1; i <= frames; ++i) go(glm::mix(from, way[k], double(i) / frames));
  }
  return work;
}

// Without friction, drag and damping nothing but the dent and the contacts can lose or gain energy.
void press_and_drag(int strokes, std::uint32_t seed) {
  std::printf("seed %u\n", seed);
  test::Dice dice(seed);
  TissueParams params;
  params.friction = 0.f;
  const Block block(0.027, 0.018, 0.009, params);
  double worst = 0.0;
  int gained = 0;
  for (int k = 0; k < strokes; ++k) {
    const double radius = dice.log_uniform(5e-4, 5e-3);
    const Work work = stroke(dice, block, radius);
    if (!(work.put_in > 0.0)) continue;
    worst = std::min(worst, work.done / work.put_in);
    gained += work.done < 0.0;
  }
  std::printf("%d strokes, %d returned energy, at most %.4f of what was put in\n", strokes, gained, -worst);
  EXPECT_EQ(gained, 0);
}

TEST(Dent, PressesAndDragsGainNoEnergy) { press_and_drag(200, 4703); }
TEST(Dent, TenThousandPressesAndDragsGainNoEnergy) { press_and_drag(10000, 4704); }

// A haptic arm feels no jump: below 0.1 N a millisecond, at the speeds of a hand in tissue.
TEST(Dent, ForceIsSmoothAtAKilohertz) {
  const Block block(0.045, 0.027, 0.009);
  double jump = 0.0, most = 0.0;
  for (const double radius : {5e-4, 2.5e-3, 5e-3}) {
    test::Press press{block.mesh, block.model};
    glm::dvec3 tip(block.middle - 0.006, block.middle, block.top + radius), before = tip;
    glm::vec3 last(0.f);
    for (int k = 0; k < 300; ++k, before = tip) {
      (k < 60 ? tip.z : tip.x) += k < 60 ? -5e-5 : 5e-5;
      const glm::vec3 force = press.frame({tip + glm::dvec3(0.0, 0.0, 0.3), before, tip, radius}, 1e-3f);
      jump = std::max(jump, static_cast<double>(glm::distance(force, last)));
      most = std::max(most, static_cast<double>(glm::length(force)));
      last = force;
    }
  }
  std::printf("largest change of force in a millisecond: %.4f N of %.2f N\n", jump, most);
  EXPECT_LT(jump, 0.1);
}

}  // namespace
