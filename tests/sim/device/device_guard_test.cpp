// Tests the guard between a device and the session: poses are unchanged while the device is good, and the return after
// a failure has no jump.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/device/device_guard.hpp"

namespace trocar::device_guard_test {
namespace {

constexpr double kFrame = 1.0 / 60.0;

// A device whose pose and health the test sets.
class Puppet final : public Device {
 public:
  explicit Puppet(DevicePose& pose, DeviceHealth& health) : pose_(pose), health_(health) {}
  DevicePose pose(const FrameClock&) override { return pose_; }
  DeviceHealth health() const override { return health_; }
  bool follows_ticks() const override { return follows_ticks_; }
  bool follows_ticks_ = false;
  void feel(const Felt& felt) override { felt_ = felt.force; }
  glm::vec3 felt_{0.f};

 private:
  DevicePose& pose_;
  DeviceHealth& health_;
};

struct Guarded {
  DevicePose now{{0, 0, 0.2}, {0, 0, 0.1}, 0.0, 1.0};
  DeviceHealth health = DeviceHealth::Good;
  GuardParams params;
  DeviceGuard guard{std::make_unique<Puppet>(now, health), now, params};
  std::uint64_t frame = 0;
  // Returns what the device gave where the guard gives nothing.
  DevicePose step() { return read().value_or(now); }
  std::optional<DevicePose> read() {
    const double time = static_cast<double>(frame) * kFrame;
    return guard.read({frame++, time});
  }
};

TEST(DeviceGuard, PassesAGoodDeviceUnchanged) {
  Guarded g;
  for (int k = 0; k < 100; ++k) {
    g.now.tip = {0.05 * std::sin(k), 0.02 * k, 0.1};  // jumps, as a trajectory may
    g.now.roll_deg = 77.0 * k;
    g.now.energy = static_cast<Diathermy>(k % 3);
    const DevicePose pose = g.step();
    EXPECT_EQ(pose.tip, g.now.tip);
    EXPECT_EQ(pose.roll_deg, g.now.roll_deg);
    EXPECT_EQ(pose.energy, g.now.energy);
    EXPECT_FALSE(g.guard.returning());
  }
}

TEST(DeviceGuard, ReturnsToTheDeviceAtALimitedSpeed) {
  for (const DeviceHealth failure : {DeviceHealth::Stale, DeviceHealth::Lost, DeviceHealth::Good}) {
    Guarded g;
    const glm::dvec3 frozen = g.step().tip;
    g.health = failure;
    if (failure == DeviceHealth::Good) g.now.tip.x = std::nan("");
    for (int k = 0; k < 20; ++k) EXPECT_FALSE(g.read());
    g.health = DeviceHealth::Good;
    g.now.tip = {0.06, 0.0, 0.12};
    g.now.roll_deg = 60.0;
    g.now.grip = 0.0;
    glm::dvec3 last = frozen;
    double roll = 0.0, fastest = 0.0, fastest_roll = 0.0;
    int frames = 0;
    DevicePose pose;
    do {
      pose = g.step();
      fastest = std::max(fastest, glm::length(pose.tip - last) / kFrame);
      fastest_roll = std::max(fastest_roll, std::abs(pose.roll_deg - roll) / kFrame);
      last = pose.tip;
      roll = pose.roll_deg;
      ++frames;
    } while (g.guard.returning() && frames < 1000);
    EXPECT_EQ(pose.tip, g.now.tip);
    EXPECT_EQ(pose.roll_deg, 60.0);
    EXPECT_EQ(pose.grip, 0.0);
    // An arc about the trocar is slightly longer than its chord, and equal steps on the chord are slightly unequal on
    // the arc.
    EXPECT_LT(fastest, 1.2 * g.params.tip_speed);
    EXPECT_LE(fastest_roll, g.params.roll_speed_deg);
    const double gap = glm::length(g.now.tip - frozen);
    EXPECT_NEAR(frames * kFrame, gap / g.params.tip_speed, 3 * kFrame);
  }
}

// The device moves on while its instrument follows: the instrument reaches it and never jumps.
TEST(DeviceGuard, CatchesUpWithAMovingDevice) {
  Guarded g;
  g.step();
  g.health = DeviceHealth::Lost;
  for (int k = 0; k < 10; ++k) g.step();
  g.health = DeviceHealth::Good;
  glm::dvec3 last(0, 0, 0.1);
  for (int k = 0; k < 120; ++k) {
    g.now.tip = {0.05 + 0.02 * std::sin(6.0 * k * kFrame), 0.02, 0.08};
    const DevicePose pose = g.step();
    EXPECT_LT(glm::length(pose.tip - last) / kFrame, 0.30) << k;
    last = pose.tip;
  }
  EXPECT_FALSE(g.guard.returning());
  EXPECT_EQ(last, g.now.tip);
}

TEST(DeviceGuard, FailsAgainDuringTheReturn) {
  Guarded g;
  g.step();
  g.health = DeviceHealth::Lost;
  g.step();
  g.health = DeviceHealth::Good;
  g.now.tip = {0.08, 0.0, 0.1};
  DevicePose pose;
  for (int k = 0; k < 20; ++k) pose = g.step();
  EXPECT_TRUE(g.guard.returning());
  const glm::dvec3 halfway = pose.tip;
  g.health = DeviceHealth::Stale;
  for (int k = 0; k < 50; ++k) g.step();
  g.health = DeviceHealth::Good;
  EXPECT_LT(glm::length(g.step().tip - halfway), 1.2 * g.params.tip_speed * kFrame);
}

TEST(DeviceGuard, APedalHeldThroughAFailureBurnsNothing) {
  Guarded g;
  g.now.energy = Diathermy::Cut;
  EXPECT_EQ(g.step().energy, Diathermy::Cut);
  g.health = DeviceHealth::Stale;
  g.step();
  g.health = DeviceHealth::Good;
  for (int k = 0; k < 100; ++k) EXPECT_EQ(g.step().energy, Diathermy::Off);
  g.now.energy = Diathermy::Off;
  EXPECT_EQ(g.step().energy, Diathermy::Off);
  g.now.energy = Diathermy::Cut;
  EXPECT_EQ(g.step().energy, Diathermy::Cut);
}

// During a pause the device is not read; afterwards the instrument moves to the device's pose at the limited speed,
// with the pedal up.
TEST(DeviceGuard, AfterAPauseReturnsAtALimitedSpeed) {
  Guarded g;
  g.now.energy = Diathermy::Cut;
  DevicePose pose = g.step();
  EXPECT_EQ(pose.energy, Diathermy::Cut);
  g.guard.suspend();
  g.now.tip += glm::dvec3(0.12, 0.0, 0.0);
  double fastest = 0.0;
  glm::dvec3 last = pose.tip;
  int frames = 0;
  do {
    pose = g.step();
    EXPECT_EQ(pose.energy, Diathermy::Off);
    fastest = std::max(fastest, glm::length(pose.tip - last) / kFrame);
    last = pose.tip;
  } while (g.guard.returning() && ++frames < 1000);
  EXPECT_EQ(pose.tip, g.now.tip);
  EXPECT_LT(fastest, 1.3 * g.params.tip_speed);
  EXPECT_NEAR(frames * kFrame, 1.2, 0.05);
}

TEST(DeviceGuard, APauseDoesNotChangeADeviceThatFollowsTheTicks) {
  DevicePose now{{0, 0, 0.2}, {0, 0, 0.1}, 0.0, 1.0, Diathermy::Cut};
  DeviceHealth health = DeviceHealth::Good;
  auto puppet = std::make_unique<Puppet>(now, health);
  puppet->follows_ticks_ = true;
  DeviceGuard guard(std::move(puppet), now);
  guard.read({});
  guard.suspend();
  now.tip.x = 0.05;
  const std::optional<DevicePose> pose = guard.read({1, kFrame});
  ASSERT_TRUE(pose);
  EXPECT_EQ(pose->tip, now.tip);
  EXPECT_EQ(pose->energy, Diathermy::Cut);
}

// Between two frames the shaft slides through the new trocar: a trocar at the tip of the frame before leaves it no
// direction.
TEST(DeviceGuard, ATrocarAtTheTipBeforeIsAFailure) {
  Guarded g;
  ASSERT_TRUE(g.read());
  const DevicePose before = g.now;
  g.now = {before.tip, {0, 0, 0.05}, 0.0, 1.0};
  EXPECT_FALSE(g.read());
  g.now = before;
  ASSERT_TRUE(g.read());
  EXPECT_TRUE(g.guard.returning());
}

// A device that is Lost at the start, like a network device: when it recovers, the instrument moves from the scene's
// pose to the device's pose.
TEST(DeviceGuard, StartsFromTheScenesPose) {
  Guarded g;
  g.health = DeviceHealth::Lost;
  g.now.tip = glm::dvec3(std::nan(""));
  g.step();
  g.health = DeviceHealth::Good;
  g.now.tip = {0.09, 0.0, 0.1};
  EXPECT_NEAR(glm::length(g.step().tip - glm::dvec3(0, 0, 0.1)), 0.0, 1.2 * g.params.tip_speed * kFrame);
}

TEST(Usable, AcceptsOnlyPosesThatAnInstrumentCanTake) {
  const DevicePose good{{0, 0, 0.2}, {0, 0, 0.1}, 0.0, 1.0};
  EXPECT_TRUE(usable(good));
  DevicePose bad = good;
  bad.roll_deg = std::nan("");
  EXPECT_FALSE(usable(bad));
  bad = good;
  bad.grip = HUGE_VAL;
  EXPECT_FALSE(usable(bad));
  bad = good;
  bad.tip = bad.pivot;
  EXPECT_FALSE(usable(bad));
  bad = good;
  bad.pivot.z = std::nan("");
  EXPECT_FALSE(usable(bad));
}

// At the limit of coordinates the volume around the tip would exceed the limit.
TEST(DeviceGuard, APoseAtTheLimitOfCoordinatesIsNotUsable) {
  DevicePose pose;
  pose.pivot = {0, 0, 0.2};
  for (const double x : {1000.0, -1000.0, 999.5}) {
    pose.tip = {x, 0, 0};
    EXPECT_FALSE(usable(pose)) << x;
  }
  pose.tip = {998.0, 0, 0};
  EXPECT_TRUE(usable(pose));
}

}  // namespace

// Compares the return of the device guard with its definition in sim/device/device_guard.hpp: every part of the pose is
// interpolated separately and linearly in time, and the duration is as defined.

namespace {

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
    guard.read({0, 0.0});
    health = DeviceHealth::Lost;
    guard.read({1, kFrame});
    health = DeviceHealth::Good;
    now = given;
  }
  DevicePose at(double seconds) { return guard.read({2, start + seconds}).value(); }
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

}  // namespace trocar::device_guard_test
