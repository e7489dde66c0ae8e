// Tests the paths of the script device.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/device/trajectory.hpp"

namespace trocar::script_device_test {
namespace {

// A script with reach 10 mm and dip 5 mm around a target 100 mm below the trocar; depth is measured downward from the
// target.
struct Script {
  explicit Script(const std::string& kind) : device(make_script_device({{0, 0, 0.1}, {}, kind, 0.010, 0.005, 4.0})) {}
  DevicePose at(double share) { return device->pose({0, 4.0 * share}); }
  static double depth(const DevicePose& pose) { return -pose.tip.z; }
  std::unique_ptr<Device> device;
};

TEST(ScriptDevice, PressMovesDownPausesAndReturns) {
  Script press("press");
  EXPECT_NEAR(Script::depth(press.at(0.0)), -0.010, 1e-12);
  EXPECT_NEAR(Script::depth(press.at(0.5)), 0.005, 1e-12);
  EXPECT_NEAR(Script::depth(press.at(0.58)), 0.005, 1e-12);
  EXPECT_NEAR(Script::depth(press.at(0.99)), -0.010, 1e-12);
  for (double share = 0.0; share < 1.0; share += 0.01) EXPECT_EQ(press.at(share).grip, 0.0);
}

TEST(ScriptDevice, PullClosesOnTheTargetPullsBackAndReleases) {
  Script pull("pull");
  EXPECT_EQ(pull.at(0.1).grip, 1.0);
  const DevicePose closed = pull.at(0.32), drawn = pull.at(0.7), open = pull.at(0.8);
  EXPECT_EQ(closed.grip, 0.0);
  EXPECT_GT(Script::depth(closed), 0.0);
  EXPECT_EQ(drawn.grip, 0.0);
  EXPECT_NEAR(Script::depth(closed) - Script::depth(drawn), 0.010, 1e-12);
  EXPECT_EQ(open.grip, 1.0);
}

TEST(ScriptDevice, BurnsOnlyWhileCrossingTheTarget) {
  Script burn("burn");
  double widest = 0.0;
  for (double share = 0.0; share < 1.0; share += 0.01) {
    const DevicePose pose = burn.at(share);
    EXPECT_EQ(pose.energy == Diathermy::Cut, share > 0.18 && share < 0.82) << share;
    if (pose.energy == Diathermy::Cut) {
      EXPECT_GT(Script::depth(pose), -1e-4) << share;
    }
    widest = std::max(widest, std::hypot(pose.tip.x, pose.tip.y));
  }
  EXPECT_GT(widest, 0.004);
  EXPECT_LE(widest, 0.010 + 1e-6);
  EXPECT_GT(Script::depth(burn.at(0.5)), 0.0);
  EXPECT_LE(Script::depth(burn.at(0.5)), 0.005);
}

// One repetition follows the previous one without a jump.
TEST(ScriptDevice, RepetitionsJoinWithoutAJump) {
  for (const char* kind : {"press", "pull", "burn"}) {
    const auto device = make_script_device({{0, 0, 0.1}, {}, kind, 0.010, 0.005, 4.0});
    glm::dvec3 last = device->pose({0, 0.0}).tip;
    for (int step = 1; step <= 1200; ++step) {
      const glm::dvec3 tip = device->pose({0, step / 120.0}).tip;
      EXPECT_LT(glm::length(tip - last), 0.0012) << kind << " " << step;
      last = tip;
    }
  }
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

// Tests the replay of recorded motions by time, at their own frame rate and at others.

namespace {

// Every coordinate is linear in time, so interpolation is exact; 50 rows per second, starting at 3 s.
Trajectory lines() {
  Trajectory trajectory;
  for (int k = 0; k <= 100; ++k) {
    const double t = 0.02 * k;
    trajectory.rows.push_back({3.0 + t,
                               {0.0, 0.001 * t, 0.2},
                               {0.03 * t, 0.0, 0.1 - 0.01 * t},
                               90.0 * t,
                               0.5 * t,
                               pedals(k % 10 == 0, k % 10 == 5)});
  }
  return trajectory;
}

TEST(ReplayDevice, TheSameFrameRateGivesExactlyTheRows) {
  const Trajectory trajectory = lines();
  const auto device = make_replay_device(trajectory);
  for (std::size_t k = 0; k < trajectory.rows.size(); ++k) {
    const DevicePose pose = device->pose({k, 7.0 + static_cast<double>(k) / 50.0});
    EXPECT_EQ(pose.tip, trajectory.rows[k].tip) << k;
    EXPECT_EQ(pose.roll_deg, trajectory.rows[k].roll_deg);
    EXPECT_EQ(pose.energy, trajectory.rows[k].energy);
  }
}

TEST(ReplayDevice, OtherFrameRatesInterpolateBetweenTheRows) {
  for (const double rate : {24.0, 60.0, 240.0}) {
    const auto device = make_replay_device(lines());
    for (std::uint64_t frame = 0; static_cast<double>(frame) / rate < 2.0; ++frame) {
      const double t = static_cast<double>(frame) / rate;
      const DevicePose pose = device->pose({frame, t});
      EXPECT_NEAR(pose.tip.x, 0.03 * t, 1e-7);
      EXPECT_NEAR(pose.pivot.y, 0.001 * t, 1e-8);
      EXPECT_NEAR(pose.roll_deg, 90.0 * t, 1e-4);
      EXPECT_NEAR(pose.grip, 0.5 * t, 1e-6);
    }
  }
}

TEST(ReplayDevice, StaysAfterTheLastRow) {
  const auto device = make_replay_device(lines());
  device->pose({0, 0.0});
  EXPECT_EQ(device->pose({1, 100.0}).tip, lines().rows.back().tip);
}

TEST(RowAt, TimesBeyondTheEndsAndRepeatedTimes) {
  Trajectory trajectory = lines();
  EXPECT_EQ(row_at(trajectory, -1.0).tip, trajectory.rows.front().tip);
  EXPECT_EQ(row_at(trajectory, 99.0).tip, trajectory.rows.back().tip);
  trajectory.rows = {{0.0, {}, {0, 0, 1}}, {1.0, {}, {0, 0, 2}}, {1.0, {}, {0, 0, 3}}, {2.0, {}, {0, 0, 4}}};
  EXPECT_EQ(row_at(trajectory, 1.0).tip.z, 3.0);
  EXPECT_NEAR(row_at(trajectory, 0.5).tip.z, 1.5, 1e-12);
  EXPECT_NEAR(row_at(trajectory, 1.5).tip.z, 3.5, 1e-12);
}

}  // namespace

}  // namespace trocar::script_device_test
