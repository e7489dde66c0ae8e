// Tests the reference energies of rods and sheets by finite differences, then the real-time step against them: forces,
// states at rest, and the order in which a step approaches implicit Euler.
#include "deform/reference/thin_reference.hpp"

#include "deform/step.hpp"
#include "geometry/units.hpp"
#include "mesh/tube_shape.hpp"
#include "tests/deform/organ_group.hpp"
#include "tests/deform/sheet_shapes.hpp"
#include "tests/support/test.hpp"

namespace trocar::thin_reference_test {
namespace {

using glm::dvec3;
constexpr double kPi = 0.5 * kFullTurn;

// A duct: 4 mm wide, wall 1 mm.
RodParams duct() { return {.outer_radius = 2e-3, .inner_radius = 1e-3, .youngs_modulus = 5e5, .drag = 2.0}; }

std::vector<dvec3> straight(int edges, double length) {
  std::vector<dvec3> points;
  for (int k = 0; k <= edges; ++k) points.push_back({length * k / edges, 0.0, 0.0});
  return points;
}

struct Rod {
  RodModel model;
  RodState state;
  std::vector<dvec3> force;
  std::vector<double> torque;
  dvec3 gravity{0.0};

  Rod(const RodParams& params, const std::vector<dvec3>& points)
      : model(make_rod(params, points)),
        state(rest_state(model, points)),
        force(points.size(), dvec3(0.0)),
        torque(points.size() - 1, 0.0) {}
  void clamp_start() { model.fixed[0] = model.fixed[1] = 1, model.clamped[0] = 1; }
  RodLoads loads() const { return {force, torque, gravity}; }
};

using Mesh = test::SheetMesh;

// A rectangle from the origin on, of irregular triangles.
Mesh rectangle(double length, double width, int columns, int rows, std::mt19937& random) {
  return test::rectangle(length, width, columns, rows, test::Pattern::irregular, static_cast<unsigned>(random()));
}

struct Sheet {
  SheetModel model;
  SheetState state;
  dvec3 gravity{0.0};
  double pressure = 0.0;
  std::vector<SheetSpring> springs;
  std::vector<SheetSupport> supports;

  Sheet(const SheetParams& params, const Mesh& mesh)
      : model(make_sheet(params, mesh.points, mesh.triangles)), state(rest_state(model, mesh.points)) {}
  void fix(const std::function<bool(const dvec3&)>& where, bool clamp) {
    for (std::size_t n = 0; n < state.x.size(); ++n)
      if (where(state.x[n])) model.fixed[n] = 1;
    for (std::size_t e = 0; clamp && e < model.edges.size(); ++e)
      if (model.fixed[model.edges[e][0]] && model.fixed[model.edges[e][1]]) model.clamped[e] = 1;
  }
  SheetLoads loads() {
    SheetLoads all;
    all.gravity = gravity, all.pressure = pressure, all.springs = springs, all.supports = supports;
    return all;
  }
};

// Lengths and angles in one measure: [unknown] m or rad.
std::vector<double> scales_of(const RodState& state, double length) {
  std::vector<double> scales(4 * state.x.size() - 1, length);
  for (std::size_t e = 0; e < state.angle.size(); ++e) scales[4 * e + 3] = 1.0;
  return scales;
}
std::vector<double> scales_of(const SheetState& state, double length) {
  std::vector<double> scales(3 * state.x.size(), length);
  scales.resize(scales.size() + state.direction.size(), 1.0);
  return scales;
}

// An energy as a function of the unknowns.
using Energy = std::function<void(std::span<const double>, Curvature, ThinExpansion&)>;

ThinExpansion expand(const Energy& energy, std::span<const double> unknowns, Curvature curvature) {
  ThinExpansion out;
  out.slope.assign(unknowns.size(), 0.0);
  energy(unknowns, curvature, out);
  return out;
}

std::vector<double> dense(const ThinExpansion& e) {
  const std::size_t count = e.slope.size();
  std::vector<double> matrix(count * count, 0.0);
  for (const ThinCurvature& c : e.curvature) {
    matrix[c.row * count + c.column] += c.value;
    if (c.row != c.column) matrix[c.column * count + c.row] += c.value;
  }
  return matrix;
}

double largest_of(std::span<const double> values) {
  double largest = 0.0;
  for (const double v : values) largest = std::max(largest, std::abs(v));
  return largest;
}

struct Errors {
  double slope = 0.0, curvature = 0.0;  // 1, of the largest
};

// Central differences of fourth order of the energy and of the gradient, in the measure of `scales`. Of second order
// they are off by 6e-6 on a face that the shaking pressed to a needle (seed 3581473584).
Errors difference_errors(const Energy& energy, std::vector<double> u, std::span<const double> scales) {
  constexpr double kStep = 1e-5;
  const std::size_t count = u.size();
  const ThinExpansion here = expand(energy, u, Curvature::Exact);
  const std::vector<double> matrix = dense(here);
  std::vector<double> slope(count), quotient(count), bend(count * count), bend_quotient(count * count);
  for (std::size_t i = 0; i < count; ++i) {
    const double from = u[i];
    const auto at = [&](int steps) {
      u[i] = from + steps * kStep * scales[i];
      ThinExpansion moved = expand(energy, u, Curvature::None);
      u[i] = from;
      return moved;
    };
    const ThinExpansion lowest = at(-2), low = at(-1), high = at(1), highest = at(2);
    const auto difference = [&](auto of) {
      return (8.0 * (of(high) - of(low)) - (of(highest) - of(lowest))) / (12.0 * kStep);
    };
    slope[i] = here.slope[i] * scales[i];
    quotient[i] = difference([](const ThinExpansion& e) { return e.energy; });
    for (std::size_t j = 0; j < count; ++j) {
      bend[i * count + j] = matrix[i * count + j] * scales[i] * scales[j];
      bend_quotient[i * count + j] = difference([&](const ThinExpansion& e) { return e.slope[j] * scales[j]; });
    }
  }
  Errors errors;
  // A state at rest has no slope: then that at a hundred steps from it counts.
  const double most = std::max(largest_of(slope), 100.0 * kStep * largest_of(bend)), most_bend = largest_of(bend);
  for (std::size_t i = 0; i < count; ++i)
    errors.slope = std::max(errors.slope, std::abs(slope[i] - quotient[i]) / most);
  for (std::size_t i = 0; i < bend.size(); ++i)
    errors.curvature = std::max(errors.curvature, std::abs(bend[i] - bend_quotient[i]) / most_bend);
  return errors;
}

void expect_derivatives(const char* what, const Energy& energy, const std::vector<double>& u,
                        std::span<const double> scales) {
  const Errors errors = difference_errors(energy, u, scales);
  std::printf("%s: gradient off by %.1e of the largest, curvature by %.1e\n", what, errors.slope, errors.curvature);
  EXPECT_LT(errors.slope, 1e-6) << what;
  EXPECT_LT(errors.curvature, 1e-6) << what;
}

// A state in which nodes moved by up to `by`, angles by up to `turn`.
template <class State>
State shaken(const auto& model, const State& from, double by, double turn, std::mt19937& random) {
  std::uniform_real_distribution<double> any(-1.0, 1.0);
  std::vector<double> u = unknowns_of(from);
  const std::vector<double> scales = scales_of(from, by);
  for (std::size_t i = 0; i < u.size(); ++i) u[i] += (scales[i] == 1.0 ? turn : by) * any(random);
  return state_at(model, from, u);
}

// A rotation by any angle about any axis.
glm::dmat3 any_rotation(std::mt19937& random) {
  std::normal_distribution<double> normal;
  const dvec3 axis = glm::normalize(dvec3(normal(random), normal(random), normal(random)));
  const double angle = 3.0 * std::uniform_real_distribution<double>(-1.0, 1.0)(random);
  glm::dmat3 r;
  for (int k = 0; k < 3; ++k) {
    dvec3 e(0.0);
    e[k] = 1.0;
    r[k] = std::cos(angle) * e + std::sin(angle) * glm::cross(axis, e) +
           (1.0 - std::cos(angle)) * glm::dot(axis, e) * axis;
  }
  return r;
}

// A rod with a bent and twisted rest shape, shaken, stretched and turned.
Rod any_rod(std::mt19937& random, double by, double turn, double stretch) {
  std::uniform_real_distribution<double> any(-1.0, 1.0);
  std::vector<dvec3> points;
  for (int k = 0; k < 7; ++k) points.push_back({0.01 * k, 0.003 * any(random), 0.003 * any(random)});
  Rod rod(duct(), points);
  rod.model.whole[2] = 0.4;
  const glm::dmat3 r = any_rotation(random);
  for (dvec3& x : rod.state.x) x = stretch * (r * x);
  for (dvec3& axis : rod.state.axis) axis = r * axis;
  rod.state = shaken(rod.model, rod.state, by, turn, random);
  return rod;
}

// Whether no face is pressed flat and no direction lies beyond 150 degrees from a face's normal: farther out the step
// limits its forces, and the reference does not.
bool within_limits(const SheetModel& model, const SheetState& s) {
  for (const SheetFace& face : model.faces) {
    const auto corner = [&](int k) { return s.x[face.node[static_cast<std::size_t>(k % 3)]]; };
    const dvec3 area = glm::cross(corner(1) - corner(0), corner(2) - corner(0));
    for (int k = 0; k < 3; ++k) {
      const dvec3 side = corner(k + 1) - corner(k);
      if (glm::length(area) < 0.02 * glm::dot(side, side)) return false;
      if (glm::dot(s.direction[face.edge[static_cast<std::size_t>(k)]], glm::normalize(area)) < -0.866) return false;
    }
  }
  return true;
}

Sheet any_sheet(std::mt19937& random, double poisson, double by, double turn, double stretch) {
  std::uniform_real_distribution<double> any(-1.0, 1.0);
  Mesh mesh = rectangle(0.04, 0.03, 4, 3, random);
  for (dvec3& p : mesh.points) p.z += 0.002 * any(random);
  Sheet sheet({.thickness = 1e-3, .youngs_modulus = 1e6, .poisson = poisson}, mesh);
  sheet.model.elements[5].integrity = 0.3;
  const glm::dmat3 r = any_rotation(random);
  for (dvec3& x : sheet.state.x) x = stretch * (r * x);
  for (dvec3& d : sheet.state.direction) d = r * d;
  const SheetState still = sheet.state;
  do {
    sheet.state = shaken(sheet.model, still, by, turn, random);
  } while (!within_limits(sheet.model, sheet.state));
  return sheet;
}

TEST(ThinReference, DerivativesOfRods) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  const auto check = [](const char* what, const RodModel& model, const RodState& from, const RodState& at) {
    const Energy energy = [&](std::span<const double> u, Curvature c, ThinExpansion& out) {
      add_elastic(model, from, u, c, out);
    };
    // Unknowns of `at` in the frames of `from`: the same angles, other positions.
    expect_derivatives(what, energy, unknowns_of(at), scales_of(at, model.length[0]));
  };
  const Rod one(duct(), straight(1, 0.01)), line(duct(), straight(6, 0.06));
  check("one edge at rest", one.model, one.state, one.state);
  check("straight rod at rest", line.model, line.state, line.state);
  RodState hairpin = line.state;  // turned back by 120 degrees at a node
  for (std::size_t k = 4; k < 7; ++k)
    hairpin.x[k] = hairpin.x[3] + 0.01 * static_cast<double>(k - 3) * dvec3(-0.5, std::sqrt(0.75), 0.0);
  check("hairpin", line.model, line.state, hairpin);
  RodState wound = line.state;  // three turns of twist
  for (std::size_t e = 0; e < 6; ++e) wound.angle[e] = 3.0 * kFullTurn * static_cast<double>(e) / 5.0;
  check("three turns of twist", line.model, line.state, wound);
  for (int round = 0; round < 4; ++round) {
    const Rod rod = any_rod(random, 1e-3 * (1 + round), 1.0 + round, 0.6 + 0.5 * round);
    check("any rod", rod.model, rod.state, rod.state);
    check("any rod, frames carried on", rod.model, rod.state, shaken(rod.model, rod.state, 3e-3, 1.0, random));
    const RodSpring spring{2, 0.3, {1e-3, 2e-3, -3e-3}, rod.state.x[3] + dvec3(0.01, 0.0, 0.02), 20.0};
    const RodState at = shaken(rod.model, rod.state, 2e-3, 1.0, random);
    expect_derivatives(
        "spring on an arm",
        [&](std::span<const double> u, Curvature c, ThinExpansion& out) { add_spring(spring, rod.state, u, c, out); },
        unknowns_of(at), scales_of(at, 0.01));
  }
}

TEST(ThinReference, DerivativesOfSheets) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  const auto check = [](const char* what, Sheet& sheet, std::span<const double> u) {
    const Energy energy = [&](std::span<const double> v, Curvature c, ThinExpansion& out) {
      add_elastic(sheet.model, sheet.state, v, c, out);
    };
    expect_derivatives(what, energy, {u.begin(), u.end()}, scales_of(sheet.state, 0.01));
  };
  Sheet flat({.thickness = 1e-3, .poisson = 0.3}, rectangle(0.03, 0.02, 3, 2, random));
  check("flat sheet at rest", flat, unknowns_of(flat.state));
  Sheet one({.thickness = 1e-3, .poisson = 0.5}, {{{0, 0, 0}, {0.01, 0, 0}, {0, 0.01, 0}}, {{0, 1, 2}}});
  check("one face at rest", one, unknowns_of(one.state));
  std::vector<double> folded = unknowns_of(one.state);
  for (std::size_t e = 9; e < 12; ++e) folded[e] = 2.0;
  check("one face, directions turned by 115 degrees", one, folded);
  for (dvec3& x : one.state.x) x.y *= 0.05;
  check("one face pressed to a twentieth", one, unknowns_of(one.state));
  for (const double poisson : {0.0, 0.3, 0.5})
    for (const double stretch : {0.6, 1.0, 2.0}) {
      Sheet sheet = any_sheet(random, poisson, 1e-3, 0.5, stretch);
      check("any sheet", sheet, unknowns_of(sheet.state));
      std::vector<double> u;
      do {
        u = unknowns_of(shaken(sheet.model, sheet.state, 1e-3, 0.0, random));
        for (std::size_t i = 3 * sheet.state.x.size(); i < u.size(); ++i) u[i] = 0.3 * std::sin(double(i));
      } while (!within_limits(sheet.model, state_at(sheet.model, sheet.state, u)));
      check("any sheet, directions carried on", sheet, u);
    }
  Sheet sheet = any_sheet(random, 0.3, 1e-3, 0.3, 1.0);
  const std::vector<double> u = unknowns_of(sheet.state), scales = scales_of(sheet.state, 0.01);
  const dvec3 at = position(sheet.model, sheet.state.x, {3, {0.2, 0.3, 0.5}});
  expect_derivatives(
      "pressure",
      [&](std::span<const double> v, Curvature c, ThinExpansion& out) { add_pressure(sheet.model, 50.0, v, c, out); },
      u, scales);
  for (const double most : {10.0, 1e-3}) {
    const SheetSpring spring{{3, {0.2, 0.3, 0.5}}, at + dvec3(1e-3, 2e-3, 1e-3), {}, 10.0, most};
    expect_derivatives(
        "spring",
        [&](std::span<const double> v, Curvature c, ThinExpansion& out) { add_spring(sheet.model, spring, v, c, out); },
        u, scales);
  }
  const SheetSupport support{{3, {0.2, 0.3, 0.5}}, at + dvec3(0.0, 0.0, 1e-3), {0, 0, 1}, {}, 10.0};
  expect_derivatives(
      "support",
      [&](std::span<const double> v, Curvature c, ThinExpansion& out) { add_support(sheet.model, support, v, c, out); },
      u, scales);
}

// The forces of the real-time model are minus the gradient of the reference energy, and the energies are the same.
TEST(ThinReference, ForcesOfRodsAreThoseOfTheReference) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  double worst = 0.0, worst_energy = 0.0;
  for (int round = 0; round < 40; ++round) {
    const Rod rod = any_rod(random, 4e-3 * (round % 4), 4.0 * (round % 3), 0.7 + 0.4 * (round % 5));
    std::vector<double> force(4 * rod.state.x.size() - 1);
    elastic_forces(rod.model, rod.state, force);
    ThinExpansion out;
    out.slope.assign(force.size(), 0.0);
    add_elastic(rod.model, rod.state, unknowns_of(rod.state), Curvature::None, out);
    const std::vector<double> scales = scales_of(rod.state, rod.model.length[0]);
    double largest = 0.0, off = 0.0;
    for (std::size_t i = 0; i < force.size(); ++i) {
      largest = std::max(largest, std::abs(force[i] * scales[i]));
      off = std::max(off, std::abs((force[i] + out.slope[i]) * scales[i]));
    }
    const double elastic = energy_of(rod.model, rod.state).elastic();
    worst = std::max(worst, off / largest), worst_energy = std::max(worst_energy, std::abs(out.energy / elastic - 1.0));
  }
  std::printf("rods: forces off by %.1e of the largest, energies by %.1e\n", worst, worst_energy);
  EXPECT_LT(worst, 1e-11);
  EXPECT_LT(worst_energy, 1e-11);
}

TEST(ThinReference, ForcesOfSheetsAreThoseOfTheReference) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  double worst = 0.0, worst_energy = 0.0;
  for (int round = 0; round < 30; ++round) {
    const Sheet sheet =
        any_sheet(random, 0.25 * (round % 3), 7e-4 * (round % 4), 0.3 * (round % 3), 0.6 + 0.4 * (round % 5));
    std::vector<dvec3> force(sheet.state.x.size());
    std::vector<double> torque(sheet.model.edges.size());
    elastic_forces(sheet.model, sheet.state, force, torque);
    ThinExpansion out;
    out.slope.assign(3 * force.size() + torque.size(), 0.0);
    add_elastic(sheet.model, sheet.state, unknowns_of(sheet.state), Curvature::None, out);
    double largest = 0.0, off = 0.0;
    const auto compare = [&](double f, std::size_t i, double scale) {
      largest = std::max(largest, std::abs(f * scale)), off = std::max(off, std::abs((f + out.slope[i]) * scale));
    };
    for (std::size_t n = 0; n < force.size(); ++n)
      for (int k = 0; k < 3; ++k) compare(force[n][k], 3 * n + static_cast<std::size_t>(k), 0.01);
    for (std::size_t e = 0; e < torque.size(); ++e) compare(torque[e], 3 * force.size() + e, 1.0);
    const double elastic = energy_of(sheet.model, sheet.state).elastic();
    worst = std::max(worst, off / largest), worst_energy = std::max(worst_energy, std::abs(out.energy / elastic - 1.0));
  }
  std::printf("sheets: forces off by %.1e of the largest, energies by %.1e\n", worst, worst_energy);
  EXPECT_LT(worst, 1e-11);
  EXPECT_LT(worst_energy, 1e-11);
}

double farthest(std::span<const dvec3> a, std::span<const dvec3> b) {
  double most = 0.0;
  for (std::size_t n = 0; n < a.size(); ++n) most = std::max(most, glm::distance(a[n], b[n]));
  return most;
}

ThinResult reference_rest(const Rod& rod, RodState& state) {
  return implicit_equilibrium(rod.model, state, {rod.loads(), {}});
}
ThinResult reference_rest(Sheet& sheet, SheetState& state) {
  return implicit_equilibrium(sheet.model, state, sheet.loads());
}

// Brings both solvers to rest from the given state, each by itself. Prints and returns how far their nodes differ, m.
template <class Scratch, class Body>
double rest_difference(const char* what, Body& body, double dt, int most) {
  auto reference = body.state;
  const auto start = body.state;
  const ThinResult result = reference_rest(body, reference);
  EXPECT_TRUE(result.balanced) << what << ' ' << result.unbalanced;
  Scratch scratch;
  int steps = 0;
  for (double moved = 1.0; steps < most && moved > 1e-13; ++steps) {
    const std::vector<dvec3> before = body.state.x;
    step(body.model, body.state, body.loads(), dt, scratch);
    moved = farthest(before, body.state.x);
  }
  const double off = farthest(body.state.x, reference.x);
  std::printf("%s: moved %.2f mm, step and reference differ by %.1e m; %d steps, %d iterations\n", what,
              1e3 * farthest(start.x, reference.x), off, steps, result.iterations);
  return off;
}
double rest_difference(const char* what, Rod& rod, double dt, int most) {
  return rest_difference<RodScratch>(what, rod, dt, most);
}
double rest_difference(const char* what, Sheet& sheet, double dt, int most) {
  return rest_difference<SheetScratch>(what, sheet, dt, most);
}

TEST(ThinReference, RodsRestWhereTheReferenceRests) {
  constexpr double kLength = 0.08;
  Rod heavy(duct(), straight(20, kLength));
  heavy.clamp_start();
  heavy.gravity = {0.0, 0.0, -9.81};
  EXPECT_LT(rest_difference("cantilever under its weight", heavy, 0.5, 2000), 1e-6 * kLength);
  std::vector<dvec3> helix;
  for (int k = 0; k <= 24; ++k) helix.push_back({0.01 * std::cos(0.3 * k), 0.01 * std::sin(0.3 * k), 0.002 * k});
  Rod wound(duct(), helix);  // both ends clamped, one moved and turned by four radians
  wound.clamp_start();
  for (const std::size_t node : {23, 24}) wound.model.fixed[node] = 1, wound.state.x[node] += dvec3(2e-3, -3e-3, 8e-3);
  wound.model.clamped[23] = 1, wound.state.angle[23] += 4.0;
  wound.gravity = {0.0, -9.81, 0.0};
  EXPECT_LT(rest_difference("helix between clamps, pulled and twisted", wound, 0.5, 4000), 1e-6 * kLength);
  Rod twisted({.outer_radius = 1e-3, .youngs_modulus = 1e6, .drag = 2.0}, straight(20, kLength));
  twisted.clamp_start();
  twisted.torque.back() = 20.0 * twisted.model.twist;
  twisted.force.back() = {5e-3, 1e-3, 0.0};
  EXPECT_LT(rest_difference("straight rod, twisted and pulled", twisted, 0.5, 4000), 1e-6 * kLength);
}

// A rod that springs with arms hold, as fibres hold a duct: the step's anchors at rest are the reference's springs.
TEST(ThinReference, AHeldRodRestsWhereTheReferenceRests) {
  constexpr double kLength = 0.06;
  Rod rod(duct(), straight(12, kLength));
  rod.clamp_start();
  rod.gravity = {0.0, 0.0, -9.81};
  const std::array<RodSpring, 2> springs{RodSpring{5, 0.3, {0.0, 2e-3, 0.0}, {0.024, 6e-3, 4e-3}, 3.0},
                                         RodSpring{10, 0.8, {1e-3, -1e-3, 1.5e-3}, {0.05, -8e-3, 2e-3}, 2.0}};
  RodState reference = rod.state;
  const ThinResult result = implicit_equilibrium(rod.model, reference, {rod.loads(), springs});
  EXPECT_TRUE(result.balanced) << result.unbalanced;
  RodScratch scratch;
  const RodState start = rod.state;
  for (int k = 0; k < 4000; ++k) {
    std::vector<RodAnchor> anchors;
    for (const RodSpring& spring : springs) {
      const RodState& s = rod.state;
      const std::uint32_t e = spring.edge;
      const dvec3 t = glm::normalize(s.x[e + 1] - s.x[e]), c = glm::cross(t, s.axis[e]);
      const double cosine = std::cos(s.angle[e]), sine = std::sin(s.angle[e]);
      const glm::dmat3 axes(t, cosine * s.axis[e] + sine * c, cosine * c - sine * s.axis[e]);
      const RodPoint at{e, spring.share, axes * spring.arm};
      const dvec3 p = glm::mix(s.x[e], s.x[e + 1], spring.share) + at.arm;
      anchors.push_back({at, spring.stiffness * (spring.anchor - p), glm::dmat3(spring.stiffness), dvec3(0.0)});
    }
    step(rod.model, rod.state, rod.loads(), 0.05, scratch, {}, anchors);
  }
  const double off = farthest(rod.state.x, reference.x);
  std::printf("held rod: moved %.2f mm, twisted by %.3f rad, step and reference differ by %.1e m\n",
              1e3 * farthest(start.x, reference.x), reference.angle.back() - reference.angle.front(), off);
  EXPECT_LT(off, 1e-6 * kLength);
}

// A block of 34 g hangs by fibres on a walled duct whose upper end is fixed: with the block where the step leaves it,
// the reference rod rests where the duct's rod rests; and the energy of the block with its fibres has no slope there.
TEST(ThinReference, ADuctThatCarriesAnOrganRestsWhereTheReferenceRests) {
  const TubeShape shape{{dvec3(0.0), dvec3(0.0, 0.0, -0.03), dvec3(0.0, 0.0, -0.064)}, 2e-3, 1e-3};
  TissueParams params;
  params.gravity = {0.f, 0.f, -9.81f};
  params.node_spacing = 0.008f;
  TissueParams thin = params;
  thin.youngs_modulus = 5e5f, thin.node_spacing = 0.004f;
  const Attachment wall{glm::vec3(0.f, 0.f, -0.002f), 0.005f};
  const TriangleMesh skin = tube_surface(shape),
                     cube = test::fine_block({-0.014f, -0.016f, -0.092f}, glm::vec3(0.032f), 0.008f);
  TissueModel duct = make_tissue(skin.view(), thin, {&wall, 1}), block = make_tissue(cube.view(), params, {});
  make_tube_of(duct, {.radius = shape.radius, .wall = shape.wall, .density = 1060.0}, centre_line(shape));
  SteppedTissue duct_state = rest_state(duct), block_state = rest_state(block);
  const std::vector<const TissueModel*> models{&duct, &block};
  const std::vector<SteppedTissue*> states{&duct_state, &block_state};
  const std::vector<MeshView> meshes{skin.view(), cube.view()};
  OrganContacts contacts = make_organ_contacts(meshes, models);
  std::vector<BondedOrgan> bonded;
  for (std::size_t k = 0; k < 2; ++k) bonded.push_back({models[k], meshes[k], &contacts.field[k]});
  Bonds bonds;
  add_layer({.reach = 1e-3f, .modulus = 5e4f, .thickness = 1e-3f, .break_strain = 20.f}, 0, 1, bonded, bonds);
  measure_slowdown(models, bonds);
  OrganStepper stepper(1);
  const std::array<SteppedOrgan, 2> organs{SteppedOrgan{&duct, &duct_state, {}},
                                           SteppedOrgan{&block, &block_state, {}}};
  for (int frame = 0; frame < 600; ++frame) {
    for (glm::vec3& v : block_state.v) v *= 0.7f;
    stepper.step(organs, contacts, bonds, 1.f / 60.f);
  }
  const TubeRod& rod = duct.tube.rods[0];
  const RodState& rests = duct_state.tube.rods[0];
  std::vector<RodSpring> springs;
  const auto add = [&](std::span<const std::uint32_t> node, std::span<const float> weight, const dvec3& at,
                       const dvec3& anchor, double stiffness) {
    const TubePoint point = point_on(duct.tube, duct_state.tube, node, weight, at);
    const std::uint32_t e = point.at.edge;
    const dvec3 t = glm::normalize(rests.x[e + 1] - rests.x[e]), c = glm::cross(t, rests.axis[e]);
    const double cosine = std::cos(rests.angle[e]), sine = std::sin(rests.angle[e]);
    const glm::dmat3 axes(t, cosine * rests.axis[e] + sine * c, cosine * c - sine * rests.axis[e]);
    springs.push_back({e, point.at.share, glm::transpose(axes) * point.at.arm, anchor, stiffness});
  };
  const float whole = 1.f;
  for (const TubeFixed& fixed : duct.tube.fixed)
    add({&fixed.node, 1}, {&whole, 1}, dvec3(duct_state.x[fixed.node]), dvec3(duct.rest[fixed.node]), duct.tube.fixing);
  dvec3 carried(0.0);
  for (const Fibre& fibre : bonds.fibres) {
    ASSERT_EQ(fibre.free_length, 0.f);
    const FibreEnds ends = ends_of(fibre, models, states);
    const bool first = fibre.a.organ == 0;
    const BondEnd& end = first ? fibre.a : fibre.b;
    const dvec3 at(first ? ends.a : ends.b), other(first ? ends.b : ends.a);
    add(duct.lattice.cells[end.cell].node, end.weight, at, other, static_cast<double>(fibre.stiffness));
    carried += static_cast<double>(fibre.stiffness) * (at - other);
  }
  RodLoads loads;
  loads.gravity = dvec3(params.gravity);
  RodState reference = rest_motion(duct.tube).rods[0];
  const ThinResult result = implicit_equilibrium(rod.model, reference, {loads, springs}, {.balance = 1e-9});
  EXPECT_TRUE(result.balanced) << result.unbalanced;
  const double off = farthest(rests.x, reference.x),
               weight = 9.81 * std::accumulate(block.mass.begin(), block.mass.end(), 0.0);
  const OrgansEnergy energy = energy_of(models, states, bonds);
  double slope = 0.0;
  for (const dvec3& g : energy.slope[1]) slope = std::max(slope, glm::length(g));
  std::printf(
      "duct that carries an organ: moved %.2f mm, step and reference differ by %.1e m; fibres carry %.6f of the "
      "weight, "
      "largest force left on a node %.1e of it\n",
      1e3 * farthest(rod.rest, reference.x), off, carried.z / weight, slope / weight);
  EXPECT_LT(off, 1e-5 * 0.064);  // the lattice is in single precision
  EXPECT_NEAR(carried.z / weight, 1.0, 1e-3);
  EXPECT_LT(slope, 1e-3 * weight);
}

TEST(ThinReference, SheetsRestWhereTheReferenceRests) {
  std::mt19937 random(5);
  constexpr double kSide = 0.04;
  const auto rim = [](const dvec3& x) { return std::min({x.x, x.y, kSide - x.x, kSide - x.y}) < 1e-9; };
  Sheet plate({.thickness = 1e-3, .youngs_modulus = 1e6, .poisson = 0.3}, rectangle(kSide, kSide, 8, 8, random));
  plate.fix(rim, true);
  plate.pressure = 30.0;
  EXPECT_LT(rest_difference("clamped plate under pressure", plate, 1.0, 2000), 1e-6 * kSide);
  Sheet bulge({.thickness = 1e-4, .youngs_modulus = 1e6, .poisson = 0.45}, rectangle(kSide, kSide, 8, 8, random));
  bulge.fix(rim, false);
  bulge.pressure = 300.0;
  EXPECT_LT(rest_difference("membrane under pressure", bulge, 1.0, 4000), 1e-6 * kSide);
  Sheet strip({.thickness = 6e-4, .youngs_modulus = 1e6, .poisson = 0.45},
              rectangle(kSide, 0.5 * kSide, 10, 5, random));
  strip.fix([](const dvec3& x) { return x.x < 1e-9; }, true);
  strip.gravity = {0.0, 0.0, -9.81};
  EXPECT_LT(rest_difference("strip under its weight", strip, 1.0, 4000), 1e-6 * kSide);
  Sheet cloth({.thickness = 4e-4, .youngs_modulus = 1e6, .poisson = 0.3}, rectangle(kSide, kSide, 8, 8, random));
  cloth.fix([](const dvec3& x) { return x.x + x.y < 0.3 * kSide; }, true);
  cloth.gravity = {0.0, 0.0, -9.81};
  EXPECT_LT(rest_difference("cloth that hangs by a corner", cloth, 1.0, 6000), 1e-6 * kSide);
  // Springs pull at one edge, some of them no harder than their limit; the middle lies on supports.
  Sheet held({.thickness = 5e-4, .youngs_modulus = 1e6, .poisson = 0.3}, rectangle(kSide, kSide, 6, 6, random));
  held.fix([](const dvec3& x) { return x.x < 1e-9; }, true);
  held.gravity = {0.0, 0.0, -9.81};
  for (std::uint32_t f = 0; f < held.model.faces.size(); ++f)
    for (int k = 0; k < 3; ++k) {
      dvec3 corner(0.0);
      corner[k] = 1.0;
      const dvec3 at = position(held.model, held.state.x, {f, corner});
      if (at.x > kSide - 1e-9)
        held.springs.push_back(
            {{f, corner}, at + dvec3(1e-3, 0.0, 4e-3 - 0.2 * at.y), {}, 0.5, at.y < 0.01 ? 1e-3 : 1.0});
      if (std::abs(at.x - 0.5 * kSide) < 4e-3)
        held.supports.push_back({{f, corner}, at - dvec3(0.0, 0.0, 1e-3), {0, 0, 1}, {}, 2.0});
    }
  EXPECT_LT(rest_difference("sheet on springs and a support", held, 0.5, 6000), 1e-6 * kSide);
}

// The difference of a step from implicit Euler's, in the largest speed and position.
struct StepDifference {
  double speed, position;  // m/s, m
};

StepDifference step_difference(const Rod& rod, double dt) {
  RodState fast = rod.state, slow = rod.state;
  RodScratch scratch;
  step(rod.model, fast, rod.loads(), dt, scratch);
  const ThinResult result = implicit_step(rod.model, slow, {rod.loads(), {}}, dt, {.balance = 1e-9});
  EXPECT_TRUE(result.balanced) << result.unbalanced;
  return {farthest(fast.v, slow.v), farthest(fast.x, slow.x)};
}

StepDifference step_difference(Sheet& sheet, double dt) {
  SheetState fast = sheet.state, slow = sheet.state;
  SheetScratch scratch;
  step(sheet.model, fast, sheet.loads(), dt, scratch);
  const ThinResult result = implicit_step(sheet.model, slow, sheet.loads(), dt, {.balance = 1e-9});
  EXPECT_TRUE(result.balanced) << result.unbalanced;
  return {farthest(fast.v, slow.v), farthest(fast.x, slow.x)};
}

// Halves the step: both solvers agree to second order in the speeds, to third order in the positions.
void expect_second_order(const char* what, auto& body, double longest) {
  std::vector<StepDifference> off;
  for (double dt = longest; off.size() < 4; dt *= 0.5) off.push_back(step_difference(body, dt));
  for (std::size_t k = 1; k < off.size(); ++k) {
    const double order = std::log2(off[k - 1].speed / off[k].speed);
    std::printf("%s, step of %.3g us: speeds differ by %.2e m/s, order %.2f; positions by %.1e m, order %.2f\n", what,
                1e6 * longest * std::pow(0.5, k), off[k].speed, order, off[k].position,
                std::log2(off[k - 1].position / off[k].position));
    if (k + 1 == off.size()) {
      EXPECT_GT(order, 1.8) << what;
      EXPECT_GT(std::log2(off[k - 1].position / off[k].position), 2.8) << what;
    }
  }
}

TEST(ThinReference, AStepApproachesImplicitEulerInSecondOrder) {
  std::mt19937 random(11);
  std::normal_distribution<double> any(0.0, 0.1);
  Rod rod = any_rod(random, 2e-3, 0.5, 1.1);
  rod.gravity = {0.0, 0.0, -9.81};
  for (dvec3& v : rod.state.v) v = {any(random), any(random), any(random)};
  for (double& spin : rod.state.spin) spin = 50.0 * any(random);
  expect_second_order("rod", rod, 2e-5);
  Sheet sheet = any_sheet(random, 0.3, 5e-4, 0.0, 1.05);
  // Directions have no mass: they begin in balance.
  SheetModel held = sheet.model;
  std::fill(held.fixed.begin(), held.fixed.end(), std::uint8_t{1});
  EXPECT_TRUE(implicit_equilibrium(held, sheet.state, {}, {.balance = 1e-12}).balanced);
  sheet.gravity = {0.0, 0.0, -9.81};
  for (dvec3& v : sheet.state.v) v = {any(random), any(random), any(random)};
  expect_second_order("sheet", sheet, 2e-5);
}

}  // namespace
}  // namespace trocar::thin_reference_test
