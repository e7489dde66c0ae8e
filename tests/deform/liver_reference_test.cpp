// Compares the real-time step with the implicit reference solver on a real liver that is pressed, pulled and twisted,
// and compares the force on a tool that presses and withdraws. Curves and tables at finer lattices:
// bench/tissue_curves.cpp.
#include <gtest/gtest.h>

#include <optional>

#include "tests/deform/deform_support.hpp"
#include "tests/deform/liver_scene.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

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

}  // namespace
}  // namespace trocar
