// Tests the thread of the haptic stub: rate, felt force between frames, old forces. haptic_hand_test.cpp tests the
// simulated hand.
#include "sim/device/haptics.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>

#include "geometry/error.hpp"

namespace trocar {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The thread catches up on late ticks, so the mean rate over a period is exact. Only a delay of more than 0.1 s breaks
// this; the test then tries the next period.
TEST(HapticStub, TicksAThousandTimesASecond) {
  HapticStub stub({0, 0, 0.2}, {0, 0, 0}, [](double) { return glm::dvec3(0.005, 0, 0); });
  double nearest = 0.0;
  for (int attempt = 0; attempt < 10 && std::abs(nearest - 1000.0) > 20.0; ++attempt) {
    const std::uint64_t before = stub.state().ticks;
    const auto start = Clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const double rate = static_cast<double>(stub.state().ticks - before) / seconds_since(start);
    if (std::abs(rate - 1000.0) < std::abs(nearest - 1000.0)) nearest = rate;
  }
  std::printf("%.0f ticks per second\n", nearest);
  EXPECT_NEAR(nearest, 1000.0, 20.0);
  EXPECT_NEAR(stub.pose({}).tip.x, 0.005, 1e-3);
  EXPECT_EQ(stub.pose({}).pivot, glm::dvec3(0, 0, 0.2));
}

TEST(HapticStub, AnUnstableHandIsRefused) {
  HapticStubParams params;
  params.handle_mass = 1e-4;
  EXPECT_THROW(HapticStub(
                   {0, 0, 0.2}, {0, 0, 0}, [](double) { return glm::dvec3(0.0); }, params),
               InputError);
}

TEST(HapticStub, FeelsTheLatestFrameAndZeroAfterAStall) {
  HapticStub stub({0, 0, 0.2}, {0, 0, 0}, [](double) { return glm::dvec3(0.0); });
  bool felt = false;
  for (int frame = 0; frame < 20; ++frame) {
    stub.feel({{0, 1, 0}, stub.pose({}).tip, 0.0});
    std::this_thread::sleep_for(std::chrono::milliseconds(16));
    felt = felt || std::abs(stub.state().felt_force.y - 1.0) < 0.1;
  }
  EXPECT_TRUE(felt);
  // Waits for the longest hold and fade at any frame intervals, and one more tick.
  const ContactModelParams params;
  const double longest = params.hold_intervals * params.longest_interval + params.fade;
  const auto last = Clock::now();
  while (seconds_since(last) < longest + 0.010) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const std::uint64_t ticks = stub.state().ticks;
  while (stub.state().ticks == ticks) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(stub.state().felt_force, glm::dvec3(0.0));
}

// Tests a wall of 500 N/m below y = 0, sampled at 60 Hz: between frames the felt force is right to within 10 %.
TEST(HapticStub, FeelsAWallBetweenFrames) {
  constexpr double kWall = 500.0;  // N/m
  HapticStub stub({0, 0.2, 0}, {0, -0.002, 0},
                  [](double time) { return glm::dvec3(0, -0.010 - 0.005 * std::sin(6.0 * time), 0); });
  int near = 0, asked = 0;
  for (int frame = 0; frame < 60; ++frame) {
    const glm::dvec3 tip = stub.pose({}).tip;
    stub.feel({{0, static_cast<float>(std::max(0.0, -kWall * tip.y)), 0}, tip, 0.0});
    std::this_thread::sleep_for(std::chrono::milliseconds(16));
    if (frame < 20) continue;
    const HapticState now = stub.state();
    ++asked;
    if (std::abs(now.felt_force.y + kWall * now.tip.y) < 0.1 * std::abs(kWall * now.tip.y)) ++near;
  }
  EXPECT_GT(near, 0.8 * asked);
}

}  // namespace
}  // namespace trocar
