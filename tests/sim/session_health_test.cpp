// Tests a session whose device becomes stale, is lost, sends invalid poses and recovers at another pose: the instrument
// freezes, its force is zero, and its return does not fling the tissue.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/device/device_guard.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/session/session.hpp"
#include "tests/sim/ball_scene.hpp"
#include "tests/sim/session_support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

enum class Failure { Stale, Lost, TipNaN, RollNaN, GripNaN, NoneHandMoves, NoneHandJumps };

// Presses into the ball from above and stays; fails from frame 60 to 99, then returns 30 mm aside at the same depth.
// Two devices that never fail serve for comparison: one moves aside from frame 100 at the speed of the return, one
// jumps.
class FailingDevice final : public Device {
 public:
  FailingDevice(Failure failure, std::vector<glm::vec3>& felt) : failure_(failure), felt_(felt) {}
  DevicePose pose(const FrameClock& clock) override {
    const bool never = failure_ == Failure::NoneHandMoves || failure_ == Failure::NoneHandJumps;
    failing_ = !never && clock.frame >= 60 && clock.frame < 100;
    const double down = std::min(1.0, static_cast<double>(clock.frame) / 40.0);
    DevicePose pose{{0, 0.02, 0.15}, {0, 0, 0.056 - 0.016 * down}, 0.0, 1.0};
    if (clock.frame >= (never ? 100u : 60u)) pose.tip.x = 0.03;
    if (clock.frame >= 100 && failure_ == Failure::NoneHandMoves)
      pose.tip.x = std::min(0.03, static_cast<double>(clock.frame - 100) * kFrame * GuardParams{}.tip_speed);
    if (failing_ && failure_ == Failure::TipNaN) pose.tip.y = std::nan("");
    if (failing_ && failure_ == Failure::RollNaN) pose.roll_deg = std::nan("");
    if (failing_ && failure_ == Failure::GripNaN) pose.grip = std::nan("");
    return pose;
  }
  DeviceHealth health() const override {
    if (failing_ && failure_ == Failure::Stale) return DeviceHealth::Stale;
    return failing_ && failure_ == Failure::Lost ? DeviceHealth::Lost : DeviceHealth::Good;
  }
  void feel(const Felt& felt) override { felt_.push_back(felt.force); }

 private:
  Failure failure_;
  std::vector<glm::vec3>& felt_;
  bool failing_ = false;
};

class Ball : public ::testing::TestWithParam<Failure> {
 protected:
  Ball() { scene_ = load_scene(test::write_ball_scene(folder_, {.tip = 56})); }
  // Returns the speed of the tissue's fastest node from frame 100 on, m/s.
  float fastest_with(Failure failure) {
    std::vector<glm::vec3> felt;
    Session session(scene_, backends_, "scan", {},
                    [&](const InstrumentScene&) { return std::make_unique<FailingDevice>(failure, felt); });
    float fastest = 0.f;
    for (std::uint64_t frame = 0; frame < 180; ++frame) {
      session.step({frame, static_cast<double>(frame) * kFrame}, kFrame);
      if (frame >= 100)
        for (const glm::vec3& v : session.organs()[0].state.v) fastest = std::max(fastest, glm::length(v));
    }
    return fastest;
  }

  TemporaryFolder folder_;
  Scene scene_;
  CpuBackends backends_;
};

TEST_P(Ball, FreezesWithoutForceAndReturnsSlowly) {
  std::vector<glm::vec3> felt;
  Session session(scene_, backends_, "scan", {},
                  [&](const InstrumentScene&) { return std::make_unique<FailingDevice>(GetParam(), felt); });
  const Instrument& instrument = session.instruments()[0];
  float fastest_before = 0.f, fastest_after = 0.f, strongest_before = 0.f, strongest_after = 0.f;
  double longest_step = 0.0;
  glm::dvec3 frozen(0.0), last = instrument.pose.tip;
  for (std::uint64_t frame = 0; frame < 180; ++frame) {
    session.step({frame, static_cast<double>(frame) * kFrame}, kFrame);
    float fastest = 0.f;
    for (const glm::vec3& v : session.organs()[0].state.v) fastest = std::max(fastest, glm::length(v));
    float& most = frame < 60 ? fastest_before : fastest_after;
    most = std::max(most, fastest);
    float& force = frame < 60 ? strongest_before : strongest_after;
    force = std::max(force, glm::length(instrument.force));
    if (frame == 59) frozen = instrument.pose.tip;
    if (frame >= 60 && frame < 100) {
      EXPECT_TRUE(instrument.frozen) << frame;
      EXPECT_EQ(instrument.pose.tip, frozen);
      EXPECT_EQ(felt.back(), glm::vec3(0.f));
    }
    if (frame >= 100) {
      EXPECT_FALSE(instrument.frozen) << frame;
      longest_step = std::max(longest_step, glm::length(instrument.pose.tip - last));
    }
    last = instrument.pose.tip;
    ASSERT_TRUE(std::isfinite(fastest));
  }
  std::printf("tissue's fastest node %.3f m/s while pressed, %.3f m/s during the return; force %.2f N, then %.2f N\n",
              static_cast<double>(fastest_before), static_cast<double>(fastest_after),
              static_cast<double>(strongest_before), static_cast<double>(strongest_after));
  EXPECT_GT(strongest_before, 0.05f);
  EXPECT_GT(glm::length(felt[58]), 0.05f);
  EXPECT_NEAR(instrument.pose.tip.x, 0.03, 1e-12);
  EXPECT_LT(longest_step, 1.2 * GuardParams{}.tip_speed * kFrame);
  const float hand = fastest_with(Failure::NoneHandMoves), jump = fastest_with(Failure::NoneHandJumps);
  std::printf("the same by a hand that moves %.3f m/s, by a jump %.3f m/s\n", static_cast<double>(hand),
              static_cast<double>(jump));
  EXPECT_LT(fastest_after, 1.5f * hand);
  EXPECT_LT(fastest_after, jump);
  EXPECT_LT(strongest_after, 5.f * strongest_before);
}

INSTANTIATE_TEST_SUITE_P(Failures, Ball,
                         testing::Values(Failure::Stale, Failure::Lost, Failure::TipNaN, Failure::RollNaN,
                                         Failure::GripNaN));

}  // namespace
}  // namespace trocar
