// Tests the session loop: it gives the bits of a session that is driven by hand, makes its calls in the documented
// order, records and logs what a log gives again, and goes on from a saved state with what its backends need made
// ready.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "geometry/error.hpp"
#include "sim/inputs/input_rerun.hpp"
#include "sim/loop/session_loop.hpp"
#include "sim/session/cpu_backends.hpp"
#include "tests/sim/session/ball_scene.hpp"
#include "tests/sim/task/task_support.hpp"

namespace trocar::session_loop_test {
namespace {

constexpr std::uint32_t kSeed = 7;
constexpr std::size_t kFrames = 40;

// A sink that notes each frame and what the session was when it came.
class NotingSink final : public RecordSink {
 public:
  NotingSink(std::vector<std::string>& calls, bool fails) : calls_(calls), fails_(fails) {}
  void append(const RecordedFrame&) override {
    calls_.push_back("record");
    failed_ = fails_;
  }
  bool failed() const noexcept override { return failed_; }
  std::string failure() const override { return "the disk is full"; }
  void set_ending(Ending ending) override { calls_.push_back("ending " + std::string(name_of(ending))); }
  void close() override {
    calls_.push_back("close");
    if (failed_) throw RunError(failure());
  }

 private:
  std::vector<std::string>& calls_;
  bool fails_, failed_ = false;
};

OpenSink noting(std::vector<std::string>& calls, bool fails = false) {
  return [&calls, fails](const RecordingHeader&) { return std::make_unique<NotingSink>(calls, fails); };
}

// A device that stands still and notes when it is read.
class NotingDevice final : public Device {
 public:
  NotingDevice(const DevicePose& pose, std::vector<std::string>& calls) : pose_(pose), calls_(calls) {}
  DevicePose pose(const FrameClock&) override {
    calls_.push_back("device");
    return pose_;
  }

 private:
  DevicePose pose_;
  std::vector<std::string>& calls_;
};

class SessionLoopTest : public ::testing::Test {
 protected:
  Scene ball_with_a_target() {
    const char* task =
        "[task]\nkind = \"touch-targets\"\ninstrument = \"probe\"\n[[task.place]]\norgan = \"ball\"\nat_mm = [0, 0, "
        "50]\n";
    return load_scene(test::write_ball_scene(folder_, {.subdivisions = 3, .more_tools = task}));
  }

  // All calls are noted: the devices stand still.
  LoopPlan noting_plan() {
    LoopPlan plan{.backend = "scan"};
    plan.device = [this](const InstrumentScene& instrument) {
      return std::make_unique<NotingDevice>(DevicePose{instrument.pivot, instrument.tip}, calls_);
    };
    plan.use = {[this] { calls_.push_back("enter"); }, [this] { calls_.push_back("leave"); }};
    return plan;
  }

  TemporaryFolder folder_;
  CpuBackends backends_;
  std::vector<std::string> calls_;
};

TEST_F(SessionLoopTest, GivesTheBitsOfASessionDrivenByHand) {
  for (const std::string name : {"touch_targets", "lift_gallbladder"}) {
    const Scene scene = test::coarse_scene(name, folder_);
    PerformedSession loop(scene, style_of(Skill::Clumsy), kSeed, backends_, "scan");

    Performer performer(scene, style_of(Skill::Clumsy), kSeed);
    Session session(scene, backends_, "scan", {},
                    [&](const InstrumentScene& instrument) { return performer.device_of(instrument.name); });
    session.set_scope_device(performer.scope_device());
    const TaskStage stage = stage_of(session);
    TaskRun task(*scene.task, stage);
    session.set_marks(task.marks(), task.watched_marks());
    performer.begin(stage, task.marks());
    SessionObserver observer;

    const double dt = 1.0 / scene.frame_rate;
    for (std::size_t frame = 0; frame < kFrames; ++frame) {
      const double time = static_cast<double>(frame) * dt;
      session.step({frame, time}, dt);
      const Observation& seen = observer.observe(session, time);
      task.step(seen);
      performer.see(seen, task.feed());
      loop.step();
      ASSERT_EQ(loop.time(), time);
    }
    EXPECT_EQ(loop.session().save(), session.save()) << name;
    EXPECT_EQ(loop.session().hidden(), session.hidden()) << name;
    EXPECT_EQ(loop.task().result().score, task.result().score) << name;
    EXPECT_EQ(loop.task().feed().progress, task.feed().progress) << name;
  }
}

TEST_F(SessionLoopTest, MakesItsCallsInTheDocumentedOrder) {
  const Scene scene = ball_with_a_target();
  SessionLoop loop(scene, backends_, noting_plan());
  EXPECT_EQ(calls_, (std::vector<std::string>{"enter", "leave"}));
  EXPECT_EQ(loop.session().marks().size(), loop.task()->marks().size());
  loop.record(noting(calls_), "");
  loop.set_publisher([&](const Session& session) {
    EXPECT_EQ(&session, &loop.session());
    EXPECT_EQ(loop.seen()->time, loop.time());  // the task has seen the frame
    calls_.push_back("publish");
  });
  std::vector<std::string> wanted = {"enter"};
  wanted.insert(wanted.end(), scene.instruments.size(), "device");
  wanted.insert(wanted.end(), {"record", "leave", "publish"});
  for (int frame = 0; frame < 2; ++frame) {
    calls_.clear();
    loop.step();
    EXPECT_EQ(calls_, wanted);
  }
  calls_.clear();
  loop.tick({2, 2.0 * loop.tick_length()}, loop.tick_length());
  wanted.pop_back();
  EXPECT_EQ(calls_, wanted) << "tick() publishes nothing";
  calls_.clear();
  loop.close();
  loop.close();
  EXPECT_EQ(calls_, (std::vector<std::string>{"ending stopped", "close"}));
  EXPECT_FALSE(loop.recording());
}

TEST_F(SessionLoopTest, WithoutATaskNothingIsMarked) {
  const Scene scene = ball_with_a_target();
  LoopPlan plan = noting_plan();
  plan.task = false;
  SessionLoop loop(scene, backends_, plan);
  loop.step();
  EXPECT_EQ(loop.task(), nullptr);
  EXPECT_EQ(loop.seen(), nullptr);
  EXPECT_TRUE(loop.session().marks().empty());
}

TEST_F(SessionLoopTest, ARecordingThatFailsSaysSoAndEnds) {
  const Scene scene = ball_with_a_target();
  SessionLoop loop(scene, backends_, noting_plan());
  loop.record(noting(calls_, true), "");
  EXPECT_FALSE(loop.failed());
  loop.step();
  EXPECT_TRUE(loop.failed());
  EXPECT_EQ(loop.failure(), "the disk is full");
  EXPECT_THROW(loop.close(), RunError);
  EXPECT_FALSE(loop.recording());
  loop.step();  // the session goes on
  EXPECT_EQ(loop.session().frames(), 2u);
}

TEST_F(SessionLoopTest, ASavedStateGoesOnWithWhatTheBackendsNeed) {
  const Scene scene = ball_with_a_target();
  SessionLoop loop(scene, backends_, noting_plan());
  for (int frame = 0; frame < 5; ++frame) loop.step();
  const std::vector<std::byte> saved = loop.session().save();
  const double time = loop.time();
  for (int frame = 0; frame < 5; ++frame) loop.step();
  const std::vector<std::byte> later = loop.session().save();

  calls_.clear();
  loop.restore(saved);
  EXPECT_EQ(calls_.front(), "enter");
  EXPECT_EQ(calls_.back(), "leave");
  EXPECT_NE(loop.session().save(), saved) << "live devices are led back to where they are";
  EXPECT_EQ(loop.time(), time);
  EXPECT_EQ(loop.task()->feed().elapsed, 0.0) << "the task starts again";
  EXPECT_EQ(loop.session().frames(), 5u);
  loop.step();
  EXPECT_EQ(loop.time(), 5.0 * loop.tick_length());

  calls_.clear();
  std::vector<std::byte> damaged = saved;
  damaged.resize(damaged.size() / 2);
  EXPECT_THROW(loop.restore(damaged), InputError);
  EXPECT_EQ(calls_, (std::vector<std::string>{"enter", "leave"})) << "given back after an error as well";
}

TEST_F(SessionLoopTest, ALogGivesTheSameFramesAgain) {
  const Scene scene = ball_with_a_target();
  InputLog log;
  FrameSums sums;
  double score = 0.0;
  {
    SessionLoop loop(scene, backends_,
                     {.backend = "scan", .trainee = Trainee{style_of(Skill::Clumsy), kSeed}, .log = &log});
    loop.record(with_sums(no_recording(), sums), "");
    for (std::size_t frame = 0; frame < kFrames; ++frame) {
      if (frame == 20) loop.suspend_devices();
      loop.step();
      loop.log_sums(sums);
    }
    score = loop.task()->feed().score;
  }
  ASSERT_EQ(log.frames.size(), kFrames);
  EXPECT_TRUE(log.frames[20].suspended);
  EXPECT_FALSE(log.frames[19].suspended || log.frames[21].suspended);

  InputRerun rerun(log, scene, backends_, "scan");
  SessionLoop again(scene, rerun.session(), ScoreClock::Tick);
  again.record(with_sums(no_recording(), sums), "");
  std::size_t frames = 0;
  while (const auto clock = rerun.step()) {
    again.follow(*clock);
    EXPECT_EQ(sums, log.frames[frames].sums) << "frame " << frames;
    ++frames;
  }
  EXPECT_EQ(frames, kFrames);
  EXPECT_EQ(again.task()->feed().score, score);
}

TEST_F(SessionLoopTest, TheClockOfTheScoreIsTheTasks) {
  const Scene scene = ball_with_a_target();
  LoopPlan plan = noting_plan();
  plan.clock = ScoreClock::Wall;
  plan.wall = true;
  SessionLoop loop(scene, backends_, plan);
  loop.step({0, 0.0, 0.5, 0.0}, loop.tick_length());
  loop.step({1, loop.tick_length(), 1.25, 0.0}, loop.tick_length());
  EXPECT_EQ(loop.score_time(), 1.25);
  EXPECT_EQ(loop.time(), loop.tick_length());
  EXPECT_EQ(loop.task()->feed().elapsed, 0.75);
}

}  // namespace
}  // namespace trocar::session_loop_test
