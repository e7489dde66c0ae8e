// Tests the replay of recorded motions by time, at their own frame rate and at others.
#include "sim/device/trajectory.hpp"

#include <gtest/gtest.h>

namespace trocar {
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
}  // namespace trocar
