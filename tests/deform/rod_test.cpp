// Tests rods against closed forms and published figures that know nothing of nodes: cantilever, elastica, buckling,
// twist, hanging chain, frequency; gradients against finite differences; and steps against an explicit twin.
#include "deform/thin/rod.hpp"

#include "geometry/error.hpp"
#include "geometry/units.hpp"
#include "tests/support/test.hpp"

namespace trocar::rod_test {
namespace {

constexpr double kPi = 0.5 * kFullTurn;

std::vector<glm::dvec3> straight(int edges, double length) {
  std::vector<glm::dvec3> points;
  for (int k = 0; k <= edges; ++k) points.push_back({length * k / edges, 0.0, 0.0});
  return points;
}

// A rod, its state and its storage.
struct Rod {
  RodModel model;
  RodState state;
  RodScratch scratch;
  std::vector<glm::dvec3> force;
  std::vector<double> torque;
  glm::dvec3 gravity{0.0};

  Rod(const RodParams& params, const std::vector<glm::dvec3>& points)
      : model(make_rod(params, points)),
        state(rest_state(model, points)),
        force(points.size(), glm::dvec3(0.0)),
        torque(points.size() - 1, 0.0) {}
  void clamp_start() { model.fixed[0] = model.fixed[1] = 1, model.clamped[0] = 1; }
  void advance(int steps, double dt) {
    for (int k = 0; k < steps; ++k) step(model, state, {force, torque, gravity}, dt, scratch);
  }
  // Long steps with drag end at rest, where the forces are exact.
  void rest() {
    advance(10, 0.05);
    for (int k = 0; k < 400 && fastest() > 1e-9; ++k) advance(10, 0.05);
    EXPECT_LT(fastest(), 1e-7);
  }
  double fastest() const {
    double speed = 0.0;
    for (const glm::dvec3& v : state.v) speed = std::max(speed, glm::length(v));
    return speed;
  }
  std::size_t last() const { return state.x.size() - 1; }
};

// A duct: 4 mm wide, wall 1 mm, 40 mm long.
RodParams duct() { return {.outer_radius = 2e-3, .inner_radius = 1e-3, .youngs_modulus = 5e5, .drag = 2.0}; }

// The length that bends of a rod whose first edge is clamped: the joint between clamped and free stands for half an
// edge on both sides.
double free_length(const Rod& rod) {
  double sum = 0.0;
  for (std::size_t e = 1; e < rod.model.length.size(); ++e) sum += rod.model.length[e];
  return sum + 0.5 * rod.model.length[0];
}

std::vector<double> forces_of(const RodModel& model, const RodState& state) {
  std::vector<double> force(4 * state.x.size() - 1);
  elastic_forces(model, state, force);
  return force;
}

TEST(Rod, RefusesWhatIsNoRod) {
  const auto points = straight(4, 0.04);
  EXPECT_THROW(make_rod({}, std::span(points).first(1)), InputError);
  EXPECT_THROW(make_rod({.outer_radius = 1e-3, .inner_radius = 1e-3}, points), InputError);
  EXPECT_THROW(make_rod({.youngs_modulus = 0.0}, points), InputError);
  EXPECT_THROW(make_rod({.poisson = 0.6}, points), InputError);
  EXPECT_THROW(make_rod({.drag = NAN}, points), InputError);
  const std::vector<glm::dvec3> twice{{0, 0, 0}, {0, 0, 0}};
  EXPECT_THROW(make_rod({}, twice), InputError);
}

TEST(Rod, SectionsAndMassAreThoseOfATube) {
  const RodSection section =
      section_of({.outer_radius = 2e-3, .inner_radius = 1e-3, .density = 1000.0, .filling = 500.0});
  EXPECT_NEAR(section.area, 9.42477796e-6, 1e-13);
  EXPECT_NEAR(section.bending, 1.17809725e-11, 1e-18);
  EXPECT_NEAR(section.per_metre, 1.0995574e-2, 1e-8);
  const Rod rod({.density = 1000.0}, straight(7, 0.04));
  EXPECT_NEAR(std::accumulate(rod.model.mass.begin(), rod.model.mass.end(), 0.0), kPi * 4e-6 * 1000.0 * 0.04, 1e-15);
}

// A curved rod that has moved and turned in any way.
Rod crumpled(std::mt19937& random) {
  std::uniform_real_distribution<double> any(-1.0, 1.0);
  std::vector<glm::dvec3> points;
  for (int k = 0; k < 7; ++k) points.push_back({0.01 * k, 0.003 * any(random), 0.003 * any(random)});
  Rod rod(duct(), points);
  const std::vector<glm::dvec3> before = rod.state.x;
  for (glm::dvec3& x : rod.state.x) x += 0.004 * glm::dvec3(any(random), any(random), any(random));
  follow_nodes(before, rod.state);
  for (double& angle : rod.state.angle) angle = 2.0 * any(random);
  return rod;
}

TEST(Rod, ForcesAreTheGradientOfTheEnergy) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 20; ++round) {
    const Rod rod = crumpled(random);
    const std::vector<double> force = forces_of(rod.model, rod.state);
    const double largest =
        *std::max_element(force.begin(), force.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
    for (std::size_t i = 0; i < force.size(); ++i) {
      const double by = i % 4 == 3 ? 1e-5 : 1e-8;
      const auto energy = [&](double move) {
        RodState moved = rod.state;
        (i % 4 == 3 ? moved.angle[i / 4] : moved.x[i / 4][static_cast<int>(i % 4)]) += move;
        follow_nodes(rod.state.x, moved);
        return energy_of(rod.model, moved).elastic();
      };
      const double slope = (energy(by) - energy(-by)) / (2.0 * by);
      const double scale = i % 4 == 3 ? std::abs(largest) * 0.01 : std::abs(largest);
      EXPECT_NEAR(force[i], -slope, 2e-5 * scale) << i;
    }
  }
}

// Moving and turning a rod as a whole changes nothing; no force or torque acts on the whole.
TEST(Rod, ForcesSumToZero) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    const Rod rod = crumpled(random);
    const std::vector<double> force = forces_of(rod.model, rod.state);
    glm::dvec3 sum(0.0), torque(0.0);
    double largest = 0.0;
    for (std::size_t node = 0; node < rod.state.x.size(); ++node) {
      const glm::dvec3 f(force[4 * node], force[4 * node + 1], force[4 * node + 2]);
      sum += f, torque += glm::cross(rod.state.x[node], f), largest = std::max(largest, glm::length(f));
      if (node + 1 < rod.state.x.size())
        torque += force[4 * node + 3] * glm::normalize(rod.state.x[node + 1] - rod.state.x[node]);
    }
    EXPECT_LT(glm::length(sum), 1e-12 * largest);
    EXPECT_LT(glm::length(torque), 1e-12 * largest);
  }
}

TEST(Rod, RestsInItsRestShape) {
  std::vector<glm::dvec3> helix;
  for (int k = 0; k <= 40; ++k) helix.push_back({0.01 * std::cos(0.3 * k), 0.01 * std::sin(0.3 * k), 0.001 * k});
  Rod rod(duct(), helix);
  rod.advance(100, 0.01);
  for (std::size_t k = 0; k < helix.size(); ++k) EXPECT_LT(glm::distance(rod.state.x[k], helix[k]), 1e-12);
}

// Small deflection under a force at the tip: F L^3 / 3 E I.
TEST(Rod, CantileverBendsAsInTheory) {
  for (const int edges : {10, 20, 40}) {
    Rod rod(duct(), straight(edges, 0.04));
    rod.clamp_start();
    const double length = free_length(rod), force = 1e-3 * rod.model.bend * 3.0 / (length * length);
    rod.force.back() = {0.0, force, 0.0};
    rod.rest();
    const double theory = force * std::pow(length, 3) / (3.0 * rod.model.bend);
    std::printf("cantilever of %d edges: %.3f %% of theory\n", edges, 100.0 * rod.state.x.back().y / theory);
    EXPECT_NEAR(rod.state.x.back().y / theory, 1.0, 0.01);
  }
}

// Large deflection: K. E. Bisshopp, D. C. Drucker, "Large deflection of cantilever beams", Quarterly of Applied
// Mathematics 3 (1945); figures by K. Mattiasson, "Numerical results from large deflection beam and frame problems
// analysed by means of elliptic integrals", Int. J. Numer. Meth. Eng. 17 (1981), table I.
TEST(Rod, FollowsTheElastica) {
  const struct {
    double load, shortening, deflection;  // F L^2 / E I, 1, 1
  } table[] = {{1.0, 0.05643, 0.30172}, {2.0, 0.16064, 0.49346}, {5.0, 0.38763, 0.71379}, {10.0, 0.55500, 0.81061}};
  for (const auto& row : table) {
    RodParams thread = duct();
    thread.inner_radius = 0.0, thread.outer_radius = 2e-4, thread.youngs_modulus = 1e9;  // hardly stretches
    Rod rod(thread, straight(40, 0.04));
    rod.clamp_start();
    const double length = free_length(rod), clamp = 0.5 * rod.model.length[0];
    rod.force.back() = {0.0, row.load * rod.model.bend / (length * length), 0.0};
    rod.rest();
    const glm::dvec3 tip = (rod.state.x.back() - glm::dvec3(clamp, 0.0, 0.0)) / length;
    std::printf("elastica %g: %.5f %.5f\n", row.load, 1.0 - tip.x, tip.y);
    EXPECT_NEAR(tip.y, row.deflection, 0.005);
    EXPECT_NEAR(1.0 - tip.x, row.shortening, 0.005);
  }
}

// Euler's load of a column clamped at one end: pi^2 E I / 4 L^2. Below it a small push straightens out, above it grows.
TEST(Rod, BucklesAtEulersLoad) {
  const auto sideways = [](double share) {
    RodParams thread = duct();
    thread.inner_radius = 0.0, thread.outer_radius = 2e-4, thread.youngs_modulus = 1e9;
    Rod rod(thread, straight(30, 0.04));
    rod.clamp_start();
    const double length = free_length(rod), euler = kPi * kPi * rod.model.bend / (4.0 * length * length);
    rod.force.back() = {-share * euler, 1e-4 * euler, 0.0};
    rod.advance(3000, 0.2);
    return rod.state.x.back().y / length;
  };
  const double below = sideways(0.98), above = sideways(1.02);
  std::printf("Euler: %.4f of the length aside at 0.98, %.4f at 1.02\n", below, above);
  EXPECT_LT(below, 0.02);
  EXPECT_GT(above, 0.1);
}

// A torque at the free end turns it by T L / G J.
TEST(Rod, TwistsAsInTheory) {
  Rod rod(duct(), straight(20, 0.04));
  rod.clamp_start();
  const double length = 0.04 - 0.5 * (rod.model.length.front() + rod.model.length.back()),
               torque = rod.model.twist * 30.0;
  rod.torque.back() = torque;
  rod.rest();
  const double theory = torque * length / rod.model.twist;
  std::printf("twist: %.7f rad, theory %.7f rad\n", rod.state.angle.back(), theory);
  EXPECT_NEAR(rod.state.angle.back(), theory, 1e-6);
}

// A clamped rod under twist writhes at the moment 8.987 E I / L (A. G. Greenhill, Proc. Inst. Mech. Eng. 1883; both
// ends clamped, free to move along the line).
TEST(Rod, WrithesAtGreenhillsMoment) {
  const auto sideways = [](double share) {
    RodParams thread = duct();
    thread.inner_radius = 0.0, thread.outer_radius = 2e-4, thread.youngs_modulus = 1e9;
    Rod rod(thread, straight(40, 0.04));
    rod.clamp_start();
    const std::size_t last = rod.last();
    rod.model.fixed[last] = rod.model.fixed[last - 1] = 1, rod.model.clamped[last - 1] = 1;
    const double length = 0.04 - rod.model.length[0], span = 0.04 - rod.model.length[0];
    const double turn = share * 8.987 * rod.model.bend / length * span / rod.model.twist;
    for (std::size_t e = 0; e < last; ++e)
      rod.state.angle[e] = turn * static_cast<double>(e) / static_cast<double>(last - 1);
    rod.force[last / 2] = {0.0, 1e-5 * rod.model.bend / (length * length), 0.0};
    rod.advance(3000, 0.2);
    return glm::length(glm::dvec2(rod.state.x[last / 2].y, rod.state.x[last / 2].z)) / length;
  };
  const double below = sideways(0.95), above = sideways(1.05);
  std::printf("Greenhill: %.5f of the length aside at 0.95, %.5f at 1.05\n", below, above);
  EXPECT_LT(below, 1e-4);
  EXPECT_GT(above, 1e-3);
}

// A thread between two points of one height hangs in a catenary, y = a cosh(x / a).
TEST(Rod, HangsInACatenary) {
  RodParams thread = duct();
  thread.inner_radius = 0.0, thread.outer_radius = 1e-4, thread.youngs_modulus = 1e8;
  const double length = 0.3, span = 0.2;
  Rod rod(thread, straight(60, length));
  const std::size_t last = rod.last();
  rod.model.fixed[0] = rod.model.fixed[last] = 1;
  rod.gravity = {0.0, -9.81, 0.0};
  // The end moves in within a second.
  for (int k = 0; k < 1000; ++k) {
    rod.state.v[last] = {-(length - span), 0.0, 0.0};
    rod.advance(1, 1e-3);
  }
  rod.state.v[last] = glm::dvec3(0.0);
  rod.rest();
  double low = 1e-3, high = 1.0;  // 2 a sinh(span / 2 a) = length
  for (int k = 0; k < 100; ++k) {
    const double a = 0.5 * (low + high);
    (2.0 * a * std::sinh(0.5 * span / a) > length ? low : high) = a;
  }
  const double sag = low * (std::cosh(0.5 * span / low) - 1.0);
  std::printf("catenary: sag %.5f m, theory %.5f m\n", -rod.state.x[last / 2].y, sag);
  EXPECT_NEAR(-rod.state.x[last / 2].y / sag, 1.0, 0.01);
}

// The first mode of a cantilever: 1.8751^2 sqrt(E I / rho A L^4) / 2 pi. Damping by the step is small at small steps.
TEST(Rod, SwingsWithItsOwnFrequency) {
  RodParams params = duct();
  params.drag = 0.0;
  Rod rod(params, straight(20, 0.04));
  rod.clamp_start();
  const double length = free_length(rod), force = 1e-3 * rod.model.bend * 3.0 / (length * length);
  rod.force.back() = {0.0, force, 0.0};
  rod.model.params.drag = 50.0;
  rod.rest();
  rod.model.params.drag = 0.0;
  rod.force.back() = glm::dvec3(0.0);
  const double theory =
      1.8751 * 1.8751 / kFullTurn * std::sqrt(rod.model.bend / (section_of(params).per_metre * std::pow(length, 4)));
  const double dt = 1.0 / theory / 2000.0;
  std::vector<double> crossings;
  double before = rod.state.x.back().y;
  for (int k = 0; k < 8000; ++k) {
    rod.advance(1, dt);
    const double now = rod.state.x.back().y;
    if (before > 0.0 && now <= 0.0) crossings.push_back((k + before / (before - now)) * dt);
    before = now;
  }
  ASSERT_GE(crossings.size(), 3u);
  const double measured = static_cast<double>(crossings.size() - 1) / (crossings.back() - crossings.front());
  std::printf("first mode: %.2f Hz, theory %.2f Hz\n", measured, theory);
  EXPECT_NEAR(measured / theory, 1.0, 0.02);
}

// A thread over a bollard: the pulled end carries exp(friction angle) times the other end (Euler, Eytelwein).
TEST(Rod, HoldsOnABollardAsEulerFound) {
  for (const double friction : {0.0, 0.2, 0.4}) {
    constexpr double kBollard = 0.01, kThread = 1e-4, kRound = kBollard + kThread;
    constexpr int kEdges = 24, kSide = 8;
    std::vector<glm::dvec3> points;
    const double edge = 2.0 * kRound * std::tan(0.5 * kPi / kEdges);
    for (int k = 0; k < kSide; ++k) points.push_back({-kRound, -edge * (kSide - k), 0.0});
    for (int k = 0; k <= kEdges; ++k)
      points.push_back({-kRound * std::cos(kPi * k / kEdges), kRound * std::sin(kPi * k / kEdges), 0.0});
    for (int k = 1; k <= kSide; ++k) points.push_back({kRound, -edge * k, 0.0});
    Rod rod({.outer_radius = kThread, .youngs_modulus = 1e8, .drag = 1.0}, points);
    rod.model.curvature.assign(points.size(), glm::dvec2(0.0));
    const std::size_t last = rod.last();
    rod.model.fixed[last] = 1;
    constexpr double kWeight = 0.02;  // N
    rod.force[0] = {0.0, -kWeight, 0.0};
    const ThinObstacle bollard{{0, 0, -0.05}, {0, 0, 0.05}, kBollard, {}, {}, friction};
    RodContacts contacts;
    double tension = 0.0;
    int counted = 0;
    for (int k = 0; k < 500; ++k) {
      rod.state.v[last] = {0.0, -2e-3, 0.0};
      find_contacts(rod.model, rod.state, {&bollard, 1}, 5e-4, contacts);
      step(rod.model, rod.state, {rod.force, {}, {}}, 1e-3, rod.scratch, contacts.list);
      if (k < 300) continue;
      tension += rod.model.stretch *
                 (glm::distance(rod.state.x[last], rod.state.x[last - 1]) / rod.model.length[last - 1] - 1.0);
      ++counted;
    }
    const double ratio = tension / counted / kWeight, theory = std::exp(friction * kPi);
    double deepest = 0.0;
    for (const RodContact& c : contacts.list) deepest = std::max(deepest, -c.gap);
    std::printf("bollard, friction %.1f: %.4f times the weight, theory %.4f; %zu contacts, deepest %.1f um\n", friction,
                ratio, theory, contacts.list.size(), 1e6 * deepest);
    EXPECT_NEAR(ratio / theory, 1.0, 0.03);
    EXPECT_LT(deepest, 5e-5);
  }
}

// An overlap is taken back by positions. As a speed, in one step, it would throw the rod off at 0.5 m/s; what the bent
// rod springs back is a small part of that.
TEST(Rod, AnOverlapDoesNotThrowTheRodOff) {
  constexpr double kOverlap = 5e-4, kStep = 1e-3, kThrown = kOverlap / kStep;
  Rod rod({.outer_radius = 1e-3, .youngs_modulus = 1e6, .drag = 0.0}, straight(20, 0.04));
  const double z = kOverlap - 1e-3 - 2e-3;
  const ThinObstacle shaft{{0.02, -0.02, z}, {0.02, 0.02, z}, 2e-3, {}, {}, 0.3};
  RodContacts contacts;
  double fastest = 0.0, least = INFINITY;
  for (int k = 0; k < 200; ++k) {
    find_contacts(rod.model, rod.state, {&shaft, 1}, 0.1, contacts);
    least = INFINITY;
    for (const RodContact& c : contacts.list) least = std::min(least, c.gap);
    if (k == 0) {
      EXPECT_NEAR(least, -kOverlap, 1e-12);
    }
    step(rod.model, rod.state, {}, kStep, rod.scratch, contacts.list);
    fastest = std::max(fastest, rod.fastest());
  }
  glm::dvec3 momentum(0.0);
  double mass = 0.0;
  for (std::size_t n = 0; n < rod.state.x.size(); ++n)
    momentum += rod.model.mass[n] * rod.state.v[n], mass += rod.model.mass[n];
  const double drift = glm::length(momentum) / mass;
  std::printf("overlap of 0.5 mm: fastest node %.4f m/s; after 0.2 s the rod drifts at %.4f m/s, gap %.2f mm\n",
              fastest, drift, 1e3 * least);
  EXPECT_GT(least, -1e-5);
  EXPECT_LT(fastest, 0.2 * kThrown);
  EXPECT_LT(drift, 0.1 * kThrown);
}

// A shaft that moves at 0.5 m/s into a thread at rest pushes it ahead and never passes through.
TEST(Rod, AFastShaftDoesNotPassThrough) {
  Rod rod({.outer_radius = 2e-4, .youngs_modulus = 1e8, .drag = 1.0}, straight(40, 0.08));
  rod.model.fixed[0] = rod.model.fixed[rod.last()] = 1;
  RodContacts contacts;
  constexpr double kSpeed = 0.5, kStep = 1e-3;
  for (int k = 0; k < 40; ++k) {
    const double z = -0.01 + kSpeed * kStep * k;
    const ThinObstacle shaft{{0.04, -0.05, z}, {0.04, 0.05, z}, 2.5e-3, {0, 0, kSpeed}, {0, 0, kSpeed}, 0.2};
    find_contacts(rod.model, rod.state, {&shaft, 1}, 2.0 * kSpeed * kStep, contacts);
    step(rod.model, rod.state, {}, kStep, rod.scratch, contacts.list);
    if (z > 0.0) {
      EXPECT_GT(rod.state.x[20].z, z) << k;
    }
  }
}

}  // namespace
}  // namespace trocar::rod_test
