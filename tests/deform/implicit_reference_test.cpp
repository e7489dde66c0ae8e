// Validates the implicit reference solver (gradients and curvatures by finite differences, balance by closed forms),
// and the real-time step by it on a liver.
#include "deform/reference/implicit_reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <random>

#include "deform/reference/energy.hpp"
#include "tests/deform/deform_support.hpp"
#include "tests/deform/tissue_measures.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace implicit_reference_test {

using glm::dvec3;
using Positions = std::vector<dvec3>;
using Energy = std::function<void(std::span<const dvec3>, Curvature, Expansion&)>;

constexpr std::uint32_t kSeed = 20240;

TissueModel small_block(const TissueParams& changed = {}) {
  TissueParams params = changed;
  params.node_spacing = 0.01f;
  const Attachment below{{0.015f, 0.f, 0.01f}, 0.012f};
  return make_tissue(test::block({0.03f, 0.02f, 0.02f}).view(), params, {&below, 1});
}

Positions shaken(const TissueModel& model, std::mt19937& random, double by) {
  std::uniform_real_distribution<double> shake(-by, by);
  Positions x(model.rest.begin(), model.rest.end());
  for (dvec3& p : x) p += dvec3(shake(random), shake(random), shake(random));
  return x;
}

Expansion expansion(const Energy& energy, const Positions& x, Curvature curvature) {
  Expansion out;
  out.slope.assign(x.size(), dvec3(0.0));
  energy(x, curvature, out);
  return out;
}

// Returns the product of the curvature and a change of all positions.
Positions times(const Expansion& e, const Positions& change) {
  Positions product(change.size(), dvec3(0.0));
  for (const CurvatureBlock& block : e.curvature) {
    EXPECT_GE(block.row, block.column);
    product[block.row] += block.value * change[block.column];
    if (block.row != block.column) product[block.column] += glm::transpose(block.value) * change[block.row];
  }
  return product;
}

double dot(const Positions& a, const Positions& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += glm::dot(a[i], b[i]);
  return sum;
}

double size(const Positions& a) { return std::sqrt(dot(a, a)); }

Positions moved(Positions x, const Positions& direction, double by) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += by * direction[i];
  return x;
}

// Compares energy with gradient and gradient with curvature, along random directions; the convex curvature is never
// negative.
void expect_derivatives(const Energy& energy, const Positions& x, std::mt19937& random) {
  const Expansion exact = expansion(energy, x, Curvature::Exact), convex = expansion(energy, x, Curvature::Convex);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 3; ++trial) {
    Positions direction(x.size());
    for (dvec3& d : direction) d = {normal(random), normal(random), normal(random)};
    const double step = 1e-8;
    const Expansion after = expansion(energy, moved(x, direction, step), Curvature::None),
                    before = expansion(energy, moved(x, direction, -step), Curvature::None);
    const double slope = (after.energy - before.energy) / (2.0 * step);
    EXPECT_NEAR(slope, dot(exact.slope, direction), 1e-5 * size(exact.slope) * size(direction) + 1e-9);
    Positions bend(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) bend[i] = (after.slope[i] - before.slope[i]) / (2.0 * step);
    const Positions exactly = times(exact, direction);
    EXPECT_LT(size(moved(bend, exactly, -1.0)), 2e-5 * size(exactly) + 1e-6);
    EXPECT_GE(dot(times(convex, direction), direction), -1e-9 * size(exactly) * size(direction));
    EXPECT_GE(dot(times(convex, direction), direction), dot(exactly, direction) - 1e-9 * size(exactly));
  }
}

TEST(ImplicitTerms, NoForceAtRest) {
  const TissueModel model = small_block();
  const Positions rest(model.rest.begin(), model.rest.end());
  Expansion e =
      expansion([&](auto x, Curvature c, Expansion& out) { add_springs(model, x, c, out); }, rest, Curvature::None);
  add_volumes(model, rest, Curvature::None, e);
  EXPECT_LT(e.energy, 1e-10);
  EXPECT_LT(size(e.slope), 1e-4);  // node positions are floats
}

// Puts all nodes at one point, so that springs have no direction and cells no volume.
TEST(ImplicitTerms, CrushedToAPointStaysFinite) {
  const TissueModel model = small_block();
  const Positions x(model.rest.size(), dvec3(0.01));
  for (const Curvature curvature : {Curvature::Exact, Curvature::Convex}) {
    Expansion e =
        expansion([&](auto at, Curvature c, Expansion& out) { add_springs(model, at, c, out); }, x, curvature);
    add_volumes(model, x, curvature, e);
    EXPECT_TRUE(std::isfinite(e.energy) && std::isfinite(size(e.slope)));
    for (const CurvatureBlock& block : e.curvature) EXPECT_TRUE(std::isfinite(block.value[0][0] + block.value[2][1]));
  }
}

TEST(ImplicitTerms, ElasticSlopesAndCurvatures) {
  std::printf("seed %u\n", kSeed);
  std::mt19937 random(kSeed);
  TissueModel model = small_block();
  model.tethers = {{3, 40.f, false}, {7, 60.f, true}};
  const dvec3 breath(0.001, -0.003, 0.002);
  for (const double by : {0.0005, 0.003, 0.008}) {  // 8 mm of 10: collapsed springs, cells inside out
    const Positions x = shaken(model, random, by);
    SCOPED_TRACE(by);
    expect_derivatives([&](auto at, Curvature c, Expansion& out) { add_springs(model, at, c, out); }, x, random);
    expect_derivatives([&](auto at, Curvature c, Expansion& out) { add_volumes(model, at, c, out); }, x, random);
    expect_derivatives([&](auto at, Curvature, Expansion& out) { add_tethers(model, at, breath, out); }, x, random);
  }
}

// Mean edges computed independently: the Jacobian of the trilinear map at the cell's centre.
TEST(ImplicitTerms, VolumeEnergyMatchesTheJacobianAtTheCentre) {
  std::mt19937 random(kSeed);
  const TissueModel model = small_block();
  const Positions x = shaken(model, random, 0.003);
  double energy = 0.0;
  const double h = model.lattice.spacing;
  for (std::size_t c = 0; c < model.lattice.cells.size(); ++c) {
    const auto& node = model.lattice.cells[c].node;
    const auto at = [&](double u, double v, double w) {
      dvec3 p(0.0);
      for (int corner = 0; corner < 8; ++corner)
        p += (corner & 1 ? u : 1 - u) * (corner & 2 ? v : 1 - v) * (corner & 4 ? w : 1 - w) * x[node[corner]];
      return p;
    };
    const dvec3 a = at(1, .5, .5) - at(0, .5, .5), b = at(.5, 1, .5) - at(.5, 0, .5), d = at(.5, .5, 1) - at(.5, .5, 0);
    const double ratio = glm::dot(glm::cross(a, b), d) / (h * h * h);
    energy += 0.5 * model.bulk[model.bulk_index[c]] * h * h * h * (ratio - 1.0) * (ratio - 1.0);
  }
  const Expansion e =
      expansion([&](auto p, Curvature k, Expansion& out) { add_volumes(model, p, k, out); }, x, Curvature::None);
  EXPECT_NEAR(e.energy / energy, 1.0, 1e-9);
}

// Returns the corner of small_block at `p`.
std::uint32_t corner_at(const glm::vec3& p) {
  const TriangleMesh mesh = test::block({0.03f, 0.02f, 0.02f});
  for (std::uint32_t v = 0; v < mesh.positions.size(); ++v)
    if (glm::distance(mesh.positions[v], p) < 1e-6f) return v;
  ADD_FAILURE() << "no such corner";
  return 0;
}

const glm::vec3 kCorner{0.03f, 0.02f, 0.f}, kAcross{0.f, 0.02f, 0.02f}, kThird{0.03f, 0.02f, 0.02f};

struct Touching {
  TissueContact contact;
  ToolStep tool;
};

// Returns a tool of 5 mm radius that overlaps a point by 2 mm: with its tip, with its side, from across. Around the
// origin.
std::vector<Touching> touchings() {
  const std::uint32_t a = corner_at(kCorner), b = corner_at(kAcross), c = corner_at(kThird);
  const TissueContact vertex{0, a, {0.f, 1.f, 0.f}}, inside{0, a, {0.f, 1.f, 0.f}, b, c, 0.3f, 0.2f};
  const TissueContact crossed{0, a, {0.f, -1.f, 0.f}};
  const ToolStep tip{{0.1, 0.3, 0.02}, {0.001, 0.0025, 0.001}, {0.001, 0.0025, 0.001}, 0.005};
  const ToolStep side{{0.3, 0.003, 0.01}, {-0.1, 0.003, 0.001}, {-0.1, 0.003, 0.001}, 0.005};
  return {{vertex, tip}, {inside, side}, {vertex, side}, {crossed, tip}};
}

TEST(ImplicitTerms, ContactHoldAndFrictionSlopesAndCurvatures) {
  std::mt19937 random(kSeed);
  const TissueModel model = small_block();
  const Positions x = shaken(model, random, 0.0003);
  for (Touching t : touchings()) {
    const ImplicitPoint point = contact_point(model, t.contact);
    const dvec3 position = position_of(point, x);
    t.tool.tip_after += position;
    t.tool.pivot += position;
    EXPECT_GT(touch_between(position, t.tool, dvec3(t.contact.normal)).depth, 0.0);
    expect_derivatives(
        [&](auto at, Curvature c, Expansion& out) { add_contact(point, t.contact, t.tool, 2e4, at, c, out); }, x,
        random);
    for (const double off : {1e-5, 3e-3}) {  // below the hold's limit and above, creeping and sliding
      const dvec3 to = position + off * glm::normalize(dvec3(1.0, 2.0, 2.0));
      const TissueHold hold{model.embedding[t.contact.vertex], glm::vec3(to), glm::vec3(to), 5.f};
      const ImplicitPoint held = held_point(hold.point);
      expect_derivatives([&](auto at, Curvature c, Expansion& out) { add_hold(held, hold, 1e5, at, c, out); }, x,
                         random);
      const ImplicitFriction friction{{0.0, 0.6, 0.8}, to, 0.2, 1e-4};
      expect_derivatives([&](auto at, Curvature c, Expansion& out) { add_friction(point, friction, at, c, out); }, x,
                         random);
    }
  }
}

// Tests one implicit step of a free fall with drag, without elastic forces: v = (v0 + g dt) / (1 + drag dt).
TEST(ImplicitReference, FreeFallMatchesImplicitEuler) {
  TissueParams params;
  params.gravity = {0.f, -9.81f, 1.f};
  params.drag = 3.f;
  params.node_spacing = 0.01f;
  const TissueModel model = make_tissue(test::block({0.02f, 0.02f, 0.02f}).view(), params, {});
  ImplicitState state = implicit_rest(model);
  dvec3 speed(0.0);
  for (int i = 0; i < 5; ++i) {
    const ImplicitResult answer = implicit_step(model, state, {}, 0.01);
    EXPECT_TRUE(answer.balanced);
    speed = (speed + dvec3(params.gravity) * 0.01) / 1.03;
  }
  for (const dvec3& v : state.v) EXPECT_LT(glm::distance(v, speed), 1e-6);
}

// At rest the force on the tool equals the force on the attachment.
TEST(ImplicitReference, ForceOnTheToolEqualsTheForceOnTheAttachment) {
  for (const float friction : {0.f, 0.3f}) {
    TissueParams params;
    params.friction = friction;
    const TissueModel model = small_block(params);
    ImplicitState state = implicit_rest(model);
    const TissueContact contact{0, corner_at(kCorner), {0.f, 1.f, 0.f}};
    ToolStep tool{{0.03, 0.3, 0.0}, {0.03, 0.025, 0.0}, {0.03, 0.025, 0.0}, 0.005};
    ImplicitResult answer;
    for (int i = 0; i < 30; ++i) {
      tool.tip_before = tool.tip_after;
      if (i < 10) tool.tip_after -= dvec3(0.0002, 0.0004, 0.0);
      answer = implicit_step(model, state, {{&tool, 1}, {&contact, 1}, {}}, 1.0 / 60.0);
      ASSERT_TRUE(answer.balanced) << answer.unbalanced;
    }
    Expansion e = expansion([&](auto at, Curvature c, Expansion& out) { add_springs(model, at, c, out); }, state.x,
                            Curvature::None);
    add_volumes(model, state.x, Curvature::None, e);
    dvec3 held(0.0);
    for (std::size_t i = 0; i < model.rest.size(); ++i)
      if (model.inverse_mass[i] == 0.f) held += e.slope[i];
    EXPECT_GT(answer.tool_force[0].y, 0.005);
    EXPECT_LT(glm::distance(answer.tool_force[0], held), 0.01 * glm::length(held));
    EXPECT_LT(answer.deepest, 1e-4);
    EXPECT_GT(answer.deepest, 0.0);
  }
}

// Long steps end at the equilibrium, and a hold that is pulled beyond its limit yields.
TEST(ImplicitReference, StepsEndAtTheEquilibrium) {
  const TissueModel model = small_block();
  const glm::vec3 to = glm::vec3(0.03f, 0.03f, 0.02f);
  const TissueHold strong{model.embedding[corner_at(kThird)], to, to, 100.f},
      weak{model.embedding[corner_at(kThird)], to, to, 0.05f};
  for (const TissueHold& hold : {strong, weak}) {
    ImplicitState stepped = implicit_rest(model), rested = implicit_rest(model);
    const TissueLoads loads{{}, {}, {&hold, 1}};
    for (int i = 0; i < 12; ++i) implicit_step(model, stepped, loads, 1.0);
    const ImplicitResult answer = implicit_equilibrium(model, rested, loads);
    EXPECT_TRUE(answer.balanced) << answer.unbalanced;
    for (std::size_t i = 0; i < rested.x.size(); ++i) EXPECT_LT(glm::distance(stepped.x[i], rested.x[i]), 1e-6);
    EXPECT_NEAR(glm::length(answer.hold_force[0]), std::min(glm::length(answer.hold_force[0]), double(hold.limit)),
                1e-9);
    if (hold.limit < 1.f) {
      EXPECT_NEAR(glm::length(answer.hold_force[0]), hold.limit, 1e-6);
    }
  }
}

}  // namespace implicit_reference_test

namespace liver_reference_test {

// Compares the real-time step with the implicit reference solver on a real liver that is pressed, pulled and twisted,
// and compares the force on a tool that presses and withdraws. Curves and tables at finer lattices:
// bench/tissue_curves.cpp.

using glm::dvec3;
using test::Difference, test::ReferenceSolved, test::LiverScene, test::PressAndRelease, test::Stepped;

constexpr double kRadius = 0.005;  // m, a 10 mm instrument
constexpr double kFrame = 1.0 / 60.0;

// At a spacing of 20 mm the reference solver needs a second or two.
std::optional<LiverScene> liver(float spacing, float friction) {
  const auto file = shared_file("organs/openhelp/Liver.stl");
  if (!file) return std::nullopt;
  TissueParams params;
  params.node_spacing = spacing;
  params.friction = friction;
  return test::liver_scene(*file, params);
}

// Both are pressed at the same surface points: the reference at rest under the tool, the step moving and then at rest.
TEST(LiverReference, EqualWhenPressed) {
  const auto scene = liver(0.02f, 0.f);
  if (!scene) GTEST_SKIP() << "no shared organs here";
  const auto points = test::points_near_dome(scene->mesh, 0.012f);
  Stepped fast{*scene};
  ReferenceSolved slow{*scene};
  dvec3 force(0.0);
  double depth = 0.0;
  for (const double next : {0.001, 0.002, 0.003, 0.004, 0.005, 0.006}) {
    const dvec3 by_reference = slow.press(test::tool_on_dome(kRadius, depth, next), points, 0.0);
    EXPECT_TRUE(slow.answer.balanced) << slow.answer.unbalanced;
    EXPECT_LT(slow.answer.deepest, 3e-5);
    for (; depth < next - 1e-9; depth += 0.02 * kFrame)
      force = fast.press(test::tool_on_dome(kRadius, depth, depth + 0.02 * kFrame), points, kFrame);
    EXPECT_NEAR(force.z, by_reference.z, 0.07) << next;  // a tenth of the largest force
  }
  for (int i = 0; i < 150; ++i) force = fast.press(test::tool_on_dome(kRadius, depth, depth), points, kFrame);
  const Difference apart = test::difference(scene->model, fast, slow);
  EXPECT_GT(apart.moved, 0.006);
  EXPECT_LT(apart.relative, 0.05);
  EXPECT_LT(apart.most, 0.05 * apart.moved);
  EXPECT_LT(glm::distance(force, slow.answer.tool_force[0]), 0.05 * glm::length(force));
}

struct Held {
  Difference apart;
  dvec3 fast, slow;  // sum of the holds' forces, or of their moments about the dome
};

// Holds move for a second and then rest; the reference solver reaches the same target in `stages`.
Held held_by(const LiverScene& scene, const std::vector<TissueHold>& begin, float lift, float turn, int stages) {
  Stepped fast{scene};
  ReferenceSolved slow{scene};
  std::vector<TissueHold> holds = begin;
  for (int i = 1; i <= stages; ++i) {
    const float share = static_cast<float>(i) / static_cast<float>(stages);
    test::move_holds(holds, begin, share * lift, share * turn);
    slow.answer = implicit_equilibrium(scene.model, slow.state, {{}, {}, holds});
    EXPECT_TRUE(slow.answer.balanced) << slow.answer.unbalanced;
  }
  holds = begin;
  for (int i = 1; i <= 210; ++i) {
    const float share = std::min(static_cast<float>(i) / 60.f, 1.f);
    test::move_holds(holds, begin, share * lift, share * turn);
    step(scene.model, fast.state, {{}, {}, holds}, static_cast<float>(kFrame));
  }
  Held held{test::difference(scene.model, fast, slow), dvec3(0.0), dvec3(0.0)};
  for (std::size_t i = 0; i < holds.size(); ++i) {
    const dvec3 arm = holds[i].to - test::kDome, quick(hold_force(fast.state, i)),
                by_reference = slow.answer.hold_force[i];
    held.fast += turn == 0.f ? quick : glm::cross(arm, quick);
    held.slow += turn == 0.f ? by_reference : glm::cross(arm, by_reference);
  }
  return held;
}

void expect_alike(const Held& held) {
  EXPECT_GT(held.apart.moved, 0.01);
  EXPECT_LT(held.apart.relative, 0.01);
  EXPECT_LT(held.apart.most, 0.02 * held.apart.moved);
  EXPECT_LT(glm::distance(held.fast, held.slow), 0.05 * glm::length(held.slow));
}

TEST(LiverReference, EqualWhenPulled) {
  const auto scene = liver(0.02f, 0.f);
  if (!scene) GTEST_SKIP() << "no shared organs here";
  expect_alike(held_by(*scene, test::ring_of_holds(scene->model, 1, 0.f, 0.002f), 0.015f, 0.f, 3));
}

TEST(LiverReference, EqualWhenTwisted) {
  const auto scene = liver(0.02f, 0.f);
  if (!scene) GTEST_SKIP() << "no shared organs here";
  expect_alike(held_by(*scene, test::ring_of_holds(scene->model, 8, 0.025f, 0.01f), 0.f, 0.5f, 3));
}

struct Curve {
  double greatest = 0.0, jump = 0.0, against = 0.0, last = 0.0;  // N; against: largest change against the motion
  void add(double force, bool down) {
    greatest = std::max(greatest, force);
    jump = std::max(jump, std::abs(force - last));
    against = std::max(against, down ? last - force : force - last);
    last = force;
  }
};

// Tests the force at the default spacing, between haptic ticks when the tissue is stepped at their rate, and between
// frames.
TEST(LiverReference, ForceRisesAndFallsSmoothly) {
  const auto scene = liver(TissueParams().node_spacing, TissueParams().friction);
  if (!scene) GTEST_SKIP() << "no shared organs here";
  const auto points = test::points_near_dome(scene->mesh, 0.012f);
  const PressAndRelease press;
  Curve curve[2];
  const int rates[2] = {60, 1000};
  for (int i = 0; i < 2; ++i) {
    Stepped liver{*scene};
    const double dt = 1.0 / rates[i];
    for (double t = dt; t < press.duration(); t += dt)
      curve[i].add(liver.press(press.tool(kRadius, t - dt, t), points, dt).z, t < 0.5 * press.duration() + dt);
    EXPECT_LT(curve[i].jump, 0.1) << rates[i] << " Hz";
    EXPECT_LT(curve[i].against, 0.05 * curve[i].greatest) << rates[i] << " Hz";
    EXPECT_LT(curve[i].last, 0.02);
  }
  EXPECT_GT(curve[0].greatest, 0.3);
  EXPECT_LT(curve[0].against, 0.005 * curve[0].greatest);
  EXPECT_NEAR(curve[0].greatest / curve[1].greatest, 1.0, 0.05);
}

// Compares the same with the contacts of a touch query.
TEST(LiverReference, TouchQueryAgreesWithAllPoints) {
  const auto scene = liver(0.012f, TissueParams().friction);
  if (!scene) GTEST_SKIP() << "no shared organs here";
  const auto points = test::points_near_dome(scene->mesh, 0.012f);
  const PressAndRelease press;
  Stepped by_points{*scene};
  test::Press by_touches{scene->mesh, scene->model};
  double worst = 0.0, greatest = 0.0;
  for (double t = kFrame; t < press.duration(); t += kFrame) {
    const ToolStep tool = press.tool(kRadius, t - kFrame, t);
    const double force = by_points.press(tool, points, kFrame).z;
    worst = std::max(worst, std::abs(by_touches.frame(tool, static_cast<float>(kFrame)).z - force));
    greatest = std::max(greatest, force);
  }
  EXPECT_LT(worst, 0.1 * greatest);
}

}  // namespace liver_reference_test

}  // namespace trocar
