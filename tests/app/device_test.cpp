// Devices: the hand of the haptic stub against the closed form, its thread, its stale forces; the mouse's limits.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "app/device/haptic_stub.hpp"
#include "app/device/mouse_device.hpp"
#include "app/device/script_device.hpp"

namespace trocar {
namespace {

TEST(HandTick, SettlesWhereForceAndStiffnessBalance) {
  const HapticStubParams params;
  HapticState state;
  const glm::dvec3 target(0.01, 0, 0), force(0, -2.0, 0);
  for (int tick = 0; tick < 5000; ++tick) state = hand_tick(params, state, target, force, 1e-3);
  EXPECT_NEAR(state.tip.x, 0.01, 1e-9);
  EXPECT_NEAR(state.tip.y, -2.0 / params.stiffness, 1e-9);
  EXPECT_NEAR(glm::length(state.velocity), 0.0, 1e-9);
}

TEST(HandTick, FollowsTheDampedOscillator) {
  const HapticStubParams params;
  const double omega0 = std::sqrt(params.stiffness / params.mass),
               zeta = params.damping / (2.0 * std::sqrt(params.stiffness * params.mass));
  const double omega = omega0 * std::sqrt(1.0 - zeta * zeta);
  HapticState state;
  state.tip = {0.01, 0, 0};
  const double dt = 1e-5;
  for (int tick = 1; tick <= 20000; ++tick) {
    state = hand_tick(params, state, glm::dvec3(0.0), glm::dvec3(0.0), dt);
    const double t = tick * dt;
    const double expected =
        0.01 * std::exp(-zeta * omega0 * t) * (std::cos(omega * t) + zeta * omega0 / omega * std::sin(omega * t));
    ASSERT_NEAR(state.tip.x, expected, 2e-5) << "t = " << t;
  }
}

TEST(HandTick, ForcesAreLimitedAndNonsenseIsNone) {
  const HapticStubParams params;
  EXPECT_NEAR(glm::length(hand_tick(params, {}, {}, {100, 0, 0}, 1e-3).felt_force), params.largest_force, 1e-12);
  const double nan = std::nan("");
  EXPECT_EQ(hand_tick(params, {}, {}, {nan, 0, 0}, 1e-3).felt_force, glm::dvec3(0.0));
}

TEST(HapticStub, ThreadFollowsItsTargetAndDropsStaleForces) {
  HapticStub stub({0, 0, 0.2}, {0, 0, 0}, [](double) { return glm::dvec3(0.005, 0, 0); });
  for (int k = 0; k < 20; ++k) {
    stub.feel({0, 1, 0}, {});
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(stub.state().felt_force, glm::dvec3(0, 1, 0));
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  EXPECT_EQ(stub.state().felt_force, glm::dvec3(0.0));
  EXPECT_GT(stub.state().ticks, 100u);
  EXPECT_NEAR(stub.pose({}).tip.x, 0.005, 1e-3);
  EXPECT_EQ(stub.pose({}).pivot, glm::dvec3(0, 0, 0.2));
}

TEST(MouseDevice, TipFollowsThePointerAndStaysWithinItsLimits) {
  const MouseParams params;
  MouseDevice mouse({0, 0, 0.2}, {0, 0, 0.1}, params);
  mouse.set_screen({1, 0, 0}, {0, 1, 0});
  mouse.move(100, 0);
  for (int frame = 0; frame < 50; ++frame) mouse.pose({});
  const DevicePose right = mouse.pose({});
  EXPECT_GT(right.tip.x, 0.005);
  EXPECT_NEAR(right.tip.y, 0.0, 1e-9);
  EXPECT_NEAR(glm::length(right.tip - right.pivot), 0.1, 1e-6);
  mouse.insert(1000);
  for (int k = 0; k < 1000; ++k) mouse.move(500, 300);
  for (int frame = 0; frame < 200; ++frame) mouse.pose({});
  const DevicePose far = mouse.pose({});
  EXPECT_NEAR(glm::length(far.tip - far.pivot), params.deepest, 1e-6);
  EXPECT_LE(std::acos(glm::normalize(far.tip - far.pivot).z * -1.0), params.widest_swing + 1e-6);
}

TEST(ScriptDevice, StaysFiniteAndMoves) {
  const auto device = make_script_device({{0, 0, 0.25}, {0, 0.05, 0.1}});
  glm::dvec3 last(0.0);
  for (std::uint64_t frame = 0; frame < 600; ++frame) {
    const DevicePose pose = device->pose({frame, static_cast<double>(frame) / 60.0});
    EXPECT_TRUE(std::isfinite(pose.tip.x + pose.tip.y + pose.tip.z));
    if (frame > 0) {
      EXPECT_GT(glm::length(pose.tip - last), 0.0);
      EXPECT_LT(glm::length(pose.tip - last), 0.005);
    }
    last = pose.tip;
  }
}

}  // namespace
}  // namespace trocar
