// Compares the return of the device guard with its definition in sim/device/device_guard.hpp: every part of the pose is
// interpolated separately and linearly in time, and the duration is as defined.
#include <gtest/gtest.h>

#include "sim/device/device_guard.hpp"

namespace trocar {
namespace {

constexpr double kFrame = 1.0 / 60.0;

// Returns the pose that the test has set.
class FixedDevice final : public Device {
 public:
  FixedDevice(const DevicePose& pose, const DeviceHealth& health) : pose_(pose), health_(health) {}
  DevicePose pose(const FrameClock&) override { return pose_; }
  DeviceHealth health() const override { return health_; }

 private:
  const DevicePose& pose_;
  const DeviceHealth& health_;
};

// An instrument that froze at `frozen`; its device has recovered and has the pose `now`.
struct Back {
  DevicePose now;
  DeviceHealth health = DeviceHealth::Good;
  GuardParams params;
  DeviceGuard guard;
  double start = 5.0;  // s, so that the return does not start at time zero

  Back(const DevicePose& frozen, const DevicePose& given, const GuardParams& p = {})
      : now(frozen), params(p), guard(std::make_unique<FixedDevice>(now, health), frozen, p) {
    guard.pose({0, 0.0});
    health = DeviceHealth::Lost;
    guard.pose({1, kFrame});
    health = DeviceHealth::Good;
    now = given;
  }
  DevicePose at(double seconds) { return guard.pose({2, start + seconds}); }
  // Seconds until the instrument reaches the device's pose, to a millisecond.
  double duration() {
    at(0.0);
    for (int k = 1; k < 20000; ++k) {
      at(1e-3 * k);
      if (!guard.returning()) return 1e-3 * k;
    }
    return 20.0;
  }
};

const DevicePose kFrozen{{0.0, 0.0, 0.2}, {0.0, 0.0, 0.1}, 10.0, 0.2};

TEST(DeviceGuardWay, EveryPartOfThePoseIsInterpolatedSeparately) {
  // The motion goes from 0.1 m depth along -z to 0.15 m depth along a direction at 90 degrees to it; the trocar moves
  // too.
  const DevicePose given{{0.01, 0.02, 0.23}, {0.16, 0.02, 0.23}, 50.0, 0.8};
  GuardParams patient;
  patient.longest_way_back = 10.0;
  Back back(kFrozen, given, patient);
  EXPECT_EQ(back.at(0.0).tip, kFrozen.tip);
  const double whole = glm::length(given.tip - kFrozen.tip) / back.params.tip_speed;
  for (const double share : {0.1, 0.25, 0.5, 0.75, 0.9}) {
    const DevicePose pose = back.at(share * whole);
    const glm::dvec3 shaft = pose.tip - pose.pivot;
    const glm::dvec3 direction = glm::normalize(glm::dvec3(share, 0.0, share - 1.0));
    EXPECT_NEAR(glm::length(pose.pivot - (kFrozen.pivot + share * (given.pivot - kFrozen.pivot))), 0.0, 1e-9) << share;
    EXPECT_NEAR(glm::length(shaft), 0.1 + share * 0.05, 1e-9) << share;
    EXPECT_NEAR(glm::length(glm::normalize(shaft) - direction), 0.0, 1e-9) << share;
    EXPECT_NEAR(pose.roll_deg, 10.0 + share * 40.0, 1e-9) << share;
    EXPECT_NEAR(pose.grip, 0.2 + share * 0.6, 1e-9) << share;
    EXPECT_TRUE(back.guard.returning());
  }
  EXPECT_EQ(back.at(1.001 * whole).tip, given.tip);
  EXPECT_FALSE(back.guard.returning());
}

TEST(DeviceGuardWay, LastsAsLongAsTheTipOrTheRollNeeds) {
  DevicePose given = kFrozen;
  given.tip.z -= 0.05;
  EXPECT_NEAR(Back(kFrozen, given).duration(), 0.5, 2e-3);  // 0.05 m at 0.1 m/s
  given.roll_deg = kFrozen.roll_deg - 270.0;
  EXPECT_NEAR(Back(kFrozen, given).duration(), 1.5, 2e-3);  // 270 degrees at 180 degrees/s
  GuardParams slow;
  slow.roll_speed_deg = 360.0;
  slow.tip_speed = 0.04;
  EXPECT_NEAR(Back(kFrozen, given, slow).duration(), 1.25, 2e-3);  // 0.05 m at 0.04 m/s
}

TEST(DeviceGuardWay, NeverLastsLongerThanItsLimit) {
  DevicePose given = kFrozen;
  given.tip.x += 0.9;  // 9 s at 0.1 m/s
  EXPECT_NEAR(Back(kFrozen, given).duration(), 2.0, 2e-3);
  GuardParams patient;
  patient.longest_way_back = 3.5;
  EXPECT_NEAR(Back(kFrozen, given, patient).duration(), 3.5, 2e-3);
}

// When the device has not moved, the instrument follows it again within a millisecond, and the pose is finite until
// then.
TEST(DeviceGuardWay, ADeviceThatDidNotMoveIsReachedAtOnce) {
  Back back(kFrozen, kFrozen);
  const DevicePose first = back.at(0.0);
  EXPECT_NEAR(glm::length(first.tip - kFrozen.tip), 0.0, 1e-12);
  EXPECT_TRUE(back.guard.returning());
  EXPECT_EQ(back.at(1.1e-3).tip, kFrozen.tip);
  EXPECT_FALSE(back.guard.returning());
}

// Half-way between opposite directions the direction is undefined: the shaft takes the device's direction.
TEST(DeviceGuardWay, OppositeShaftsTakeTheDirectionOfTheDevice) {
  // Powers of two, so that the half-way time is exact.
  const DevicePose frozen{{0.0, 0.0, 0.0}, {0.0, 0.0, -0.125}, 0.0, 0.0};
  DevicePose given = frozen;
  given.tip = {0.0, 0.0, 0.125};
  GuardParams params;
  params.tip_speed = 0.125;
  Back back(frozen, given, params);
  back.at(0.0);
  EXPECT_EQ(back.at(1.0).tip, given.tip);
  EXPECT_NEAR(glm::length(back.at(0.9).tip - frozen.tip), 0.0, 1e-9);
  EXPECT_NEAR(glm::length(back.at(1.1).tip - given.tip), 0.0, 1e-9);
}

// When the clock decreases, the instrument stays at the start of its return.
TEST(DeviceGuardWay, ADecreasingClockMovesNothing) {
  DevicePose given = kFrozen;
  given.tip.z -= 0.05;
  Back back(kFrozen, given);
  back.at(0.0);
  EXPECT_NEAR(glm::length(back.at(-1.0).tip - kFrozen.tip), 0.0, 1e-12);
}

TEST(DeviceGuardWay, ThePedalStaysOffUntilItIsReleasedAfterTheReturn) {
  DevicePose given = kFrozen;
  given.tip.z -= 0.05;
  Back back(kFrozen, given);
  back.at(0.0);
  // A pedal that is released and pressed again during the return is still blocked, because the return has not ended.
  back.now.energy = Diathermy::Off;
  EXPECT_EQ(back.at(0.1).energy, Diathermy::Off);
  back.now.energy = Diathermy::Cut;
  EXPECT_EQ(back.at(0.2).energy, Diathermy::Off);
  EXPECT_EQ(back.at(0.6).energy, Diathermy::Off);
  EXPECT_FALSE(back.guard.returning());
  back.now.energy = Diathermy::Off;
  EXPECT_EQ(back.at(0.7).energy, Diathermy::Off);
  back.now.energy = Diathermy::Cut;
  EXPECT_EQ(back.at(0.8).energy, Diathermy::Cut);
}

}  // namespace
}  // namespace trocar
