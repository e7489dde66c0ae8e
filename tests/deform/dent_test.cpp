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

constexpr double kShare = 6.25e-6;  // m^2  of the top for each of its vertices

// The vertices of the top within `radius` of a place, and the radius of the disc for which they stand.
struct Patch {
  std::vector<std::uint32_t> vertices;
  double radius = 0.0;  // m
};

Patch patch_at(const Block& block, const glm::dvec2& at, double radius) {
  Patch patch;
  double square = 0.0;
  for (std::uint32_t v = 0; v < block.mesh.positions.size(); ++v) {
    const glm::dvec3 p(block.mesh.positions[v]);
    if (p.z < block.top - 1e-6 || glm::distance(glm::dvec2(p), at) > radius) continue;
    patch.vertices.push_back(v);
    square += glm::dot(glm::dvec2(p) - at, glm::dvec2(p) - at);
  }
  patch.radius = std::sqrt(2.0 * square / static_cast<double>(patch.vertices.size()) + kShare / std::numbers::pi);
  return patch;
}

// Moves a patch that jaws hold by `pull` (m) in a third of a second and keeps it there. Returns the stiffness that they
// feel, N/m.
double stiffness_of(const Block& block, const Patch& patch, const glm::dvec3& pull, std::uint32_t jaws) {
  test::Press press{block.mesh, block.model};
  const ToolStep away{{0.0, 0.0, 1.0}, {0.0, 0.0, 0.5}, {0.0, 0.0, 0.5}, 0.0025};
  glm::dvec3 force(0.0);
  for (int k = 0; k < 60; ++k) {
    std::vector<TissueHold> holds;
    for (const std::uint32_t v : patch.vertices) {
      const glm::dvec3 p(block.mesh.positions[v]);
      const auto at = [&](int frame) { return glm::vec3(p + std::min(frame / 20.0, 1.0) * pull); };
      holds.push_back({block.model.embedding[v], at(k), at(k + 1), 10.f, jaws, float(kShare)});
    }
    press.frame(away, 1.f / 60.f, holds);
    force = glm::dvec3(0.0);
    for (std::size_t h = 0; h < holds.size(); ++h) force += glm::dvec3(hold_force(press.state, h));
  }
  return -glm::dot(force, pull) / glm::dot(pull, pull);
}

// Jaws that hold a patch of the surface and move it feel a rigid disc that is stuck to a half-space: 2 a E* along the
// normal, and 8 G a / (2 - nu) along the surface (Johnson, "Contact mechanics", 1985, chapter 3).
TEST(Dent, APatchBetweenJawsYieldsAsADiscThatIsStuck) {
  const double modulus = 6000.0, nu = 0.46;
  for (const double spacing : {0.005, 0.009}) {
    const Block block(0.063, 0.045, spacing);
    for (const glm::dvec3& pull : {glm::dvec3(0.0, 0.0, 5e-4), glm::dvec3(5e-4, 0.0, 0.0)}) {
      std::vector<double> lattice, ratio;
      for (int i = 0; i < 4; ++i) {
        const Patch patch = patch_at(block, block.corner() + spacing / 2.0 * glm::dvec2(i % 2, i / 2), 0.0055);
        const double disc = pull.z > 0.0 ? 2.0 * patch.radius * modulus / (1.0 - nu * nu)
                                         : 4.0 * modulus / (1.0 + nu) * patch.radius / (2.0 - nu);
        lattice.push_back(stiffness_of(block, patch, pull, TissueHold::kOther) / disc);
        ratio.push_back(stiffness_of(block, patch, pull, 0) / disc);
      }
      const auto least = [](const std::vector<double>& list) { return *std::min_element(list.begin(), list.end()); };
      const auto most = [](const std::vector<double>& list) { return *std::max_element(list.begin(), list.end()); };
      std::printf("spacing %.0f mm, along the %s: %.2f to %.2f of a disc; the lattice alone %.2f to %.2f\n",
                  1e3 * spacing, pull.z > 0.0 ? "normal" : "surface", least(ratio), most(ratio), least(lattice),
                  most(lattice));
      EXPECT_GT(least(ratio), 0.8);
      EXPECT_LT(most(ratio), 1.25);
    }
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

// Jaws grip a patch, move it along random straight ways and back, and let go.
Work grasp(test::Dice& dice, const Block& block) {
  const auto any = [&](double half) { return dice.uniform(-half, half); };
  const Patch patch =
      patch_at(block, {block.middle + any(0.005), block.middle + any(0.005)}, dice.uniform(0.002, 0.007));
  const double speed = dice.log_uniform(0.01, 0.3);
  const float limit = static_cast<float>(dice.log_uniform(0.01, 1.0));
  std::vector<glm::dvec3> way{glm::dvec3(0.0)};
  for (int k = 0; k < 3; ++k) way.push_back({any(0.008), any(0.008), any(0.008)});
  way.push_back(glm::dvec3(0.0));
  test::Press press{block.mesh, block.model};
  const ToolStep away{{0.0, 0.0, 1.0}, {0.0, 0.0, 0.5}, {0.0, 0.0, 0.5}, 0.0025};
  Work work;
  for (std::size_t k = 1; k < way.size() && !patch.vertices.empty(); ++k) {
    const int frames = std::max(2, static_cast<int>(240.0 * glm::distance(way[k - 1], way[k]) / speed));
    for (int i = 1; i <= frames; ++i) {
      const glm::dvec3 from = glm::mix(way[k - 1], way[k], double(i - 1) / frames),
                       to = glm::mix(way[k - 1], way[k], double(i) / frames);
      std::vector<TissueHold> holds;
      for (const std::uint32_t v : patch.vertices) {
        const glm::dvec3 p(block.mesh.positions[v]);
        holds.push_back({block.model.embedding[v], glm::vec3(p + from), glm::vec3(p + to), limit, 0});
      }
      press.frame(away, 1.f / 240.f, holds);
      double done = 0.0;
      for (std::size_t h = 0; h < holds.size(); ++h)
        done -= glm::dot(glm::dvec3(hold_force(press.state, h)), to - from);
      work.done += done, work.put_in += std::max(done, 0.0);
    }
  }
  return work;
}

// Without friction nothing but the dent, the contacts and the tissue's damping can lose or gain energy. Every third
// stroke is a grasp.
void press_drag_and_grasp(int strokes, std::uint32_t seed) {
  std::printf("seed %u\n", seed);
  test::Dice dice(seed);
  TissueParams params;
  params.friction = 0.f;
  const Block block(0.027, 0.018, 0.009, params);
  double worst = 0.0;
  int gained = 0;
  for (int k = 0; k < strokes; ++k) {
    const Work work = k % 3 == 2 ? grasp(dice, block) : stroke(dice, block, dice.log_uniform(5e-4, 5e-3));
    if (!(work.put_in > 0.0)) continue;
    worst = std::min(worst, work.done / work.put_in);
    gained += work.done < 0.0;
  }
  std::printf("%d strokes, %d returned energy, at most %.4f of what was put in\n", strokes, gained, -worst);
  EXPECT_EQ(gained, 0);
}

TEST(Dent, PressesDragsAndGraspsGainNoEnergy) { press_drag_and_grasp(100, 4703); }
TEST(Dent, TenThousandPressesDragsAndGraspsGainNoEnergy) { press_drag_and_grasp(10000, 4704); }

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
