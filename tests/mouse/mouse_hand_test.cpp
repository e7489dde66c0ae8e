// Tests that mouse and keyboard alone reach every pose within their resolution, and that tasks of two instruments can
// be done with them.
#include "tests/mouse/mouse_hand.hpp"

#include "tests/sim/task/task_support.hpp"
#include "tests/support/test.hpp"

namespace trocar::test {
namespace {

constexpr double kTick = 1.0 / 60.0;  // s

TEST(MouseHand, ReachesPosesWithinAThirdOfAMillimetre) {
  Scene scene;
  for (const double side : {-0.08, 0.08}) {
    InstrumentScene instrument;
    instrument.name = side < 0.0 ? "left" : "right", instrument.kind = InstrumentKind::Grasper;
    instrument.pivot = {side, -0.1, 0.25}, instrument.tip = {0.3 * side, 0.0, 0.15};
    scene.instruments.push_back(instrument);
  }
  const ScopeAxes axes = axes_of(scene.scope.pose());
  MouseHand hand(scene);
  std::mt19937 random(3);
  const auto within = [&](double size) { return size * (2.0 * (double(random()) / 4294967296.0) - 1.0); };
  std::vector<DevicePose> wanted{hand.rest_pose(0), hand.rest_pose(1)};
  for (int k = 0; k < 40; ++k) {
    DevicePose& moved = wanted[static_cast<std::size_t>(k % 2)];
    moved.tip = glm::dvec3(within(0.02), within(0.02), 0.12 + within(0.02)), moved.roll_deg = within(60.0);
    for (int picture = 0; picture < 180; ++picture) hand.felt(hand.reach(wanted, axes), axes, kTick);
    for (std::size_t tool = 0; tool < 2; ++tool) {
      const DevicePose now = hand.rest_pose(tool);
      // Half a fine notch along the shaft, and half a fine pixel across it on either axis.
      EXPECT_LT(glm::distance(now.tip, wanted[tool].tip), tool == std::size_t(k % 2) ? 0.0006 : 0.0013) << k;
      EXPECT_NEAR(now.roll_deg, wanted[tool].roll_deg, 1.0) << k;
    }
  }
}

// Two instruments by turns: one stretches the band, the other cuts it.
TEST(MouseAttempt, StretchesABandAndCutsIt) {
  const TemporaryFolder folder;
  Scene scene = load_scene(repository_file("data/scenes/tasks/cut_band.toml"));
  scene.organs.erase(scene.organs.begin());  // the liver, to save time
  MouseAttempt attempt(scene, 1, folder.path() / "out");
  attempt.start();
  attempt.step({}, kTick);
  while (attempt.step(attempt.next_input(), kTick)) {
  }
  const TaskResult result = attempt.practice().task()->result();
  std::printf("%.0f points, %.1f s, %zu Tab\n", result.score, attempt.practice().time(), attempt.counts().tabs);
  for (const TaskEvent& event : result.events) std::printf("%7.2f s %s\n", event.time, event.text.c_str());
  EXPECT_TRUE(result.finished);
  EXPECT_GE(result.score, 85.0);
  EXPECT_GE(attempt.counts().tabs, 1u);
}

}  // namespace
}  // namespace trocar::test
