// Tests sessions: contact deforms the tissue and pushes the tool, nothing allocates or leaks, and the same scene gives
// the same frames.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cpu_collision/reference.hpp"
#include "geometry/error.hpp"
#include "sim/device/device_guard.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/session/session.hpp"
#include "tests/sim/session/ball_scene.hpp"
#include "tests/sim/session/session_support.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/resident_memory.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

using test::BallScene;

TEST_F(BallScene, TheToolTouchesAndTheTissuePushesBack) {
  Session session = make_session({{"obb-refit", 1}, {"obb", 10}});
  std::uint64_t touched = 0;
  std::size_t asked = 0, asked_tenth = 0;  // frames in which the probe was a candidate
  float strongest = 0.f;
  for (std::size_t frame = 0; frame < 240; ++frame) {
    run(session, frame, 1);
    touched += session.touched();
    const bool near = !session.near_pairs().instruments_near(0).empty();
    asked += near, asked_tenth += near && frame % 10 == 0;
    strongest = std::max(strongest, glm::length(session.instruments()[0].force));
    ASSERT_TRUE(std::isfinite(session.organs()[0].positions[0].x));
  }
  EXPECT_GT(touched, 500u);
  EXPECT_GT(strongest, 0.01f);
  EXPECT_LT(strongest, 50.f);
  EXPECT_EQ(session.disagreements(), 0u);
  EXPECT_GT(asked, 120u);
  EXPECT_EQ(session.backend_times()[0].update_ms.size(), asked);
  EXPECT_EQ(session.backend_times()[1].update_ms.size(), asked);
  EXPECT_EQ(session.backend_times()[2].update_ms.size(), asked_tenth);
  std::printf("touched %llu faces in 240 frames, strongest force %.2f N\n", static_cast<unsigned long long>(touched),
              static_cast<double>(strongest));
}

// A backend whose answers lack every fifth face: a fault that the backend and its check would share.
class LyingQuery final : public TouchQuery {
 public:
  explicit LyingQuery(std::unique_ptr<TouchQuery> honest) : honest_(std::move(honest)) {}
  std::string_view name() const override { return honest_->name(); }
  void rebuild(const MeshView& mesh) override { honest_->rebuild(mesh); }
  void update(std::span<const glm::vec3> positions) override { honest_->update(positions); }
  TouchList touched(std::span<const ToolVolume> tools, TouchSet set) override {
    const TouchList list = honest_->touched(tools, set);
    touches_.clear();
    first_.assign(1, 0);
    for (std::size_t tool = 0; tool < tools.size(); ++tool) {
      for (const Touch& touch : list.of_tool(tool))
        if (index(touch.face) % 5 != 0) touches_.push_back(touch);
      first_.push_back(static_cast<std::uint32_t>(touches_.size()));
    }
    return {touches_, first_};
  }
  const StageTimes& times() const override { return honest_->times(); }
  std::size_t memory_bytes() const override { return honest_->memory_bytes(); }

 private:
  std::unique_ptr<TouchQuery> honest_;
  std::vector<Touch> touches_;
  std::vector<std::uint32_t> first_;
};

TEST_F(BallScene, TheReferenceFindsAFaultThatNoOtherBackendCan) {
  Session session = make_session({});
  session.set_checking(false);
  run(session, 0, 60);
  EXPECT_EQ(session.sample().faces, 60u) << "one face a frame when there is no time";
  session.set_checking(true);
  std::size_t frame = 60;
  for (; frame < 240; ++frame) run(session, frame, 1);
  EXPECT_EQ(session.disagreements(), 0u);
  EXPECT_GE(session.sample().faces, 240u);
  EXPECT_NEAR(double(session.sample().culled) / double(session.sample().faces), 0.5, 0.25);
  // This is the session's own organ, with another query.
  Organ& organ = const_cast<Organ&>(session.organs()[0]);
  organ.query = std::make_unique<LyingQuery>(std::move(organ.query));
  std::size_t frames = 0, touching = 0;
  for (; session.disagreements() == 0 && frames < 600; ++frames, ++frame) {
    run(session, frame, 1);
    touching += session.touched() > 0;
  }
  std::printf("found after %zu frames, %zu of them with touches\n", frames, touching);
  EXPECT_LE(touching, 60u);
  EXPECT_GT(session.sample().disagreements, 0u);
}

TEST_F(BallScene, SteadyStateAllocatesNothing) {
  Session session = make_session({{"obb-refit", 1}, {"obb", 10}}, [](const InstrumentScene& instrument) {
    return std::make_unique<LoopingDevice>(script(instrument));
  });
  run(session, 0, 600);
  const std::uint64_t before = allocations_so_far();
  run(session, 600, 600);
  EXPECT_EQ(allocations_so_far() - before, 0u);
}

TEST_F(BallScene, TenThousandFramesLeakNothing) {
  Session session = make_session({{"obb-refit", 1}});
  session.reserve_frames(100);
  run(session, 0, 500);
  const long before = resident_kib();
  run(session, 500, 10000);
  const long growth = resident_kib() - before;
  std::printf("resident memory grew by %ld KiB in 10,000 frames\n", growth);
  EXPECT_LT(growth, 1024);
}

TEST_F(BallScene, ALimitOfNoFramesKeepsNoTimes) {
  Session session = make_session({{"obb-refit", 1}});
  session.reserve_frames(0);
  run(session, 0, 120);
  for (const BackendTimes& times : session.backend_times()) EXPECT_TRUE(times.query_ms.empty()) << times.name;
}

TEST_F(BallScene, GoldenRun) {
  std::uint64_t hashes[2];
  for (std::uint64_t& hash : hashes) {
    Session session = make_session();
    hash = 14695981039346656037ull;
    for (std::size_t frame = 0; frame < 500; ++frame) {
      run(session, frame, 1);
      hash = hash_of(hash, std::as_bytes(std::span(session.organs()[0].positions)));
      for (const Touch& touch : session.organs()[0].touches.touches)
        hash = hash_of(hash, std::as_bytes(std::span(&touch.face, 1)));
    }
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

// Gives invalid poses from frame 50 to frame 99.
class FaultyDevice final : public Device {
 public:
  explicit FaultyDevice(std::unique_ptr<Device> sound) : sound_(std::move(sound)) {}
  DevicePose pose(const FrameClock& clock) override {
    DevicePose pose = sound_->pose(clock);
    if (clock.frame >= 50 && clock.frame < 75) pose.tip.y = std::nan("");
    if (clock.frame >= 75 && clock.frame < 100) pose.tip = pose.pivot;
    return pose;
  }

 private:
  std::unique_ptr<Device> sound_;
};

TEST_F(BallScene, InvalidPosesFreezeTheInstrument) {
  Session session = make_session(
      {}, [](const InstrumentScene& instrument) { return std::make_unique<FaultyDevice>(script(instrument)); });
  run(session, 0, 50);
  const glm::dvec3 last = session.instruments()[0].pose.tip;
  run(session, 50, 50);
  EXPECT_TRUE(session.instruments()[0].frozen);
  EXPECT_EQ(session.instruments()[0].pose.tip, last);
  run(session, 100, 1);
  EXPECT_FALSE(session.instruments()[0].frozen);
}

TEST_F(BallScene, EveryBackendGivesTheSameAnswer) {
  Session one = make_session({{"obb-refit", 1}}), other = make_session({{"obb-refit", 1}});
  for (std::size_t frame = 0; frame < 120; ++frame) {
    if (frame == 40) other.use_backend(backends_, "obb");
    if (frame == 80) other.use_backend(backends_, "aabb-refit");
    EXPECT_THROW(other.use_backend(backends_, "telepathy"), InputError);
    run(one, frame, 1);
    run(other, frame, 1);
    ASSERT_EQ(one.touched(), other.touched()) << "frame " << frame;
    ASSERT_EQ(one.instruments()[0].force, other.instruments()[0].force) << "frame " << frame;
  }
  EXPECT_EQ(other.backend().name, "aabb-refit");
  EXPECT_EQ(other.backend_times()[0].name, "aabb-refit");
  EXPECT_EQ(other.disagreements(), 0u);
}

// Marks move with the surface of the touch query; the scope follows its device.
TEST_F(BallScene, MarksFollowTheSurfaceAndTheScopeItsDevice) {
  Session session = make_session();
  const Organ& ball = session.organs()[0];
  const SurfaceMark mark = nearest_mark(0, ball.mesh.view(), {0.f, 0.f, 0.06f});
  EXPECT_NEAR(mark.weight.x + mark.weight.y + mark.weight.z, 1.f, 1e-6f);
  session.set_marks({&mark, 1});
  session.set_scope_device(make_script_device({session.scope().pose.port, session.scope().pose.eye, "explore"}));
  const ScopePose before = session.scope().pose;
  float lowest = 1.f, highest = 0.f;
  for (std::size_t frame = 0; frame < 120; ++frame) {
    const glm::vec3 expected = position_of(mark, ball.positions);
    run(session, frame, 1);
    ASSERT_EQ(session.marks()[0], expected);
    lowest = std::min(lowest, expected.z), highest = std::max(highest, expected.z);
  }
  EXPECT_GT(highest - lowest, 1e-4f);
  EXPECT_GT(glm::distance(session.scope().pose.eye, before.eye), 1e-3);
  EXPECT_EQ(session.scope().pose.port, before.port);
}

TEST_F(BallScene, MissingOrgansAndBackendsGiveOneErrorMessage) {
  scene_.organs[0].mesh = folder_.path() / "absent.obj";
  EXPECT_THROW(make_session(), InputError);
  scene_.organs[0].mesh = folder_.path() / "ball.obj";
  EXPECT_THROW(Session(scene_, backends_, "fast", {}, script), InputError);
}

}  // namespace

// Tests a session whose device becomes stale, is lost, sends invalid poses and recovers at another pose: the instrument
// freezes, its force is zero, and its return does not fling the tissue.

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
  // The tip has sunk in by more than its radius; where it slips, the tissue springs back.
  EXPECT_LT(fastest_after, 3.f * hand);
  EXPECT_LT(fastest_after, jump);
  EXPECT_LT(strongest_after, 5.f * strongest_before);
}

INSTANTIATE_TEST_SUITE_P(Failures, Ball,
                         testing::Values(Failure::Stale, Failure::Lost, Failure::TipNaN, Failure::RollNaN,
                                         Failure::GripNaN));

}  // namespace

// Tests that the backends of a session without OpenGL have their names and agree.

namespace {

TEST(CpuBackends, EveryNameMakesAQueryThatAgrees) {
  CpuBackends backends;
  const TriangleMesh mesh = shapes::icosphere(4);
  const ToolVolume tool = swept_volume({{0.0, 0.0, 0.3}, {0.0, 0.0, 0.09}, {0.0, 0.01, 0.08}, 0.003}, Cover::Capsule);
  const ReferenceAnswer reference = reference_touched(mesh.view(), tool, TouchSet::Exact);
  ASSERT_FALSE(reference.touched.empty());
  for (const std::string& name : backends.names()) {
    const auto query = backends.make(name);
    EXPECT_EQ(query->name(), name);
    EXPECT_EQ(backends.resolve(name, {}).name, name);
    query->rebuild(mesh.view());
    EXPECT_EQ(compare_with_reference(reference, query->touched({&tool, 1}, TouchSet::Exact).touches).disagreements, 0u)
        << name;
  }
  EXPECT_EQ(backends.resolve("auto", {}).name, "scan");
  EXPECT_EQ(backends.make("aabb:median-refit")->name(), "aabb:median-refit");
}

TEST(CpuBackends, OtherNamesAreRefusedWithTheChoice) {
  CpuBackends backends;
  try {
    backends.resolve("compute", {});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "unknown backend 'compute'; choose auto or one of scan, aabb-refit, aabb, obb-refit, obb");
  }
}

}  // namespace

}  // namespace trocar
