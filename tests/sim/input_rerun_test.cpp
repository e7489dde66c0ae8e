// Tests sessions that run again from their logged inputs: they have the same bits, score and events.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "geometry/error.hpp"
#include "tests/app/ball_task.hpp"
#include "tests/sim/ball_scene.hpp"
#include "tests/sim/logged_session.hpp"
#include "tests/sim/odd_attempt.hpp"
#include "tests/sim/restless_device.hpp"

namespace trocar {
namespace {

using test::expect_same;
using test::odd_attempt;
using test::same_bits;

// A session in the scene whose devices are logged; runs it again from the log and from the log's file.
void expect_same_run(const InputLog& log, const Scene& scene, const std::string& backend) {
  CpuBackends backends;
  InputRerun rerun(log, scene, backends, backend);
  FrameSums sums;
  SessionRecorder recorder(with_sums(no_recording(), sums), scene, rerun.session(), "");
  std::size_t frame = 0, differences = 0;
  for (std::optional<FrameClock> clock; (clock = rerun.step()); ++frame) {
    recorder.append(rerun.session(), *clock);
    if (sums != log.frames[frame].sums) ++differences;
  }
  EXPECT_EQ(frame, log.frames.size());
  EXPECT_EQ(differences, 0u) << backend;
}

TEST(InputRerunTest, DevicesThatFailAndPausesGiveTheSameBits) {
  const TemporaryFolder folder;
  const Scene scene = load_scene(test::write_ball_scene(
      folder, {.subdivisions = 3, .node_spacing = 14, .tip = 50, .more_tools = test::kFourKinds}));
  AttemptFile attempt = odd_attempt();
  attempt.log = {};
  std::size_t faces = 0, touched = 0;
  {
    unsigned seed = 11;
    test::LoggedSession run(attempt.log, scene, [&](const InstrumentScene& instrument) {
      return std::make_unique<test::RestlessDevice>(instrument, seed++);
    });
    std::mt19937 random(5);
    double time = 0.0;
    for (std::uint64_t frame = 0; frame < 130; ++frame) {
      const double step = (0.5 + 1e-3 * static_cast<double>(random() % 1000)) / 60.0;
      run.step({2 * frame, time, time, 0.0}, step, 50.0 + static_cast<double>(frame), frame % 50 == 20);
      touched += run.session().touched();
      time += step;
    }
    faces = run.session().organs()[0].face_ids.size();
  }
  EXPECT_GT(touched, 100u);
  EXPECT_NE(faces, 1280u);  // faces were cut
  expect_same_run(attempt.log, scene, "scan");
  const AttemptFile again = parse_attempt(attempt_text(attempt), "a.json");
  expect_same(attempt, again);
  expect_same_run(again.log, scene, "scan");
}

// A task's end suspends the devices while its last frame is still followed: the frame after it has the pause.
TEST(InputRerunTest, APauseThatFollowsFromAFrameBelongsToTheNext) {
  const TemporaryFolder folder;
  const Scene scene = load_scene(test::write_ball_scene(
      folder, {.subdivisions = 3, .node_spacing = 14, .tip = 50, .more_tools = test::kFourKinds}));
  InputLog log;
  {
    test::LoggedSession run(log, scene, [](const InstrumentScene& instrument) {
      return std::make_unique<test::RestlessDevice>(instrument, 3);
    });
    for (std::uint64_t frame = 0; frame < 30; ++frame) {
      const double time = static_cast<double>(frame) / 60.0;
      run.step({frame, time, time, 0.0}, 1.0 / 60.0, 50.0, false);
      if (frame == 12) run.logger().suspend_devices(), run.logger().suspend_devices();
    }
    run.logger().suspend_devices();  // after the last frame: no frame has it
  }
  for (std::size_t frame = 0; frame < log.frames.size(); ++frame) EXPECT_EQ(log.frames[frame].suspended, frame == 13);
  expect_same_run(log, scene, "scan");
}

TEST(InputRerunTest, ALogOfAnotherSceneIsRefused) {
  const TemporaryFolder folder;
  const Scene scene = load_scene(test::write_ball_task(folder));
  const InputLog odd = odd_attempt().log;
  const auto refused = [&](const InputLog& log) {
    CpuBackends backends;
    EXPECT_THROW(InputRerun(log, scene, backends, "scan"), InputError);
  };
  CpuBackends backends;
  EXPECT_NO_THROW(InputRerun(odd, scene, backends, "scan"));
  refused({});
  refused({{odd.devices[1]}, odd.frames});
  refused({{odd.devices[1], odd.devices[0]}, odd.frames});
  refused({{odd.devices[0], odd.devices[0]}, odd.frames});
  refused({{odd.devices[0], odd.devices[1], odd.devices[1]}, odd.frames});
  refused({{{"probe", false, {}}}, odd.frames});
  refused({{odd.devices[0], {kScopeName, false, {}}}, odd.frames});
}

class PerformedAttempt : public ::testing::Test {
 protected:
  // Runs the attempt again, and its task.
  TaskResult result_again(const AttemptFile& attempt) const {
    CpuBackends backends;
    InputRerun rerun(attempt.log, scene_, backends, "scan");
    TaskRun task(*scene_.task, stage_of(rerun.session()));
    rerun.session().set_marks(task.marks(), task.watched_marks());
    SessionObserver observer;
    while (const auto clock = rerun.step()) task.step(observer.observe(rerun.session(), clock->wall));
    EXPECT_EQ(ending_of(&task), attempt.ending);
    return task.result();
  }

  TemporaryFolder folder_;
  Scene scene_ = load_scene(test::write_ball_task(folder_, "[[task.place]]\norgan = \"ball\"\nat_mm = [0, 30, 40]\n"));
};

TEST_F(PerformedAttempt, HasTheSameTouchesScoreAndEventsAgain) {
  const AttemptFile attempt = test::perform_logged(scene_, "scenes/ball.toml");
  std::uint64_t touched = 0;
  for (const LoggedFrame& frame : attempt.log.frames) touched += frame.sums.touched;
  std::printf("%zu frames, %llu touched faces, score %.1f, %zu events, %zu bytes\n", attempt.log.frames.size(),
              static_cast<unsigned long long>(touched), attempt.score, attempt.events.size(),
              attempt_text(attempt).size());
  EXPECT_EQ(attempt.ending, Ending::Done);
  EXPECT_GT(touched, 10u);
  EXPECT_GE(attempt.events.size(), 2u);
  EXPECT_GT(attempt.score, 0.0);
  EXPECT_LT(attempt.score, 100.0);
  AttemptFile again = parse_attempt(attempt_text(attempt), "a.json");
  expect_same(attempt, again);
  expect_same_run(again.log, scene_, "scan");
  const TaskResult result = result_again(again);
  EXPECT_TRUE(same_bits(result.score, attempt.score));
  expect_same(result.events, attempt.events);
  // The pause is an input: without it the instrument is elsewhere in the frame after it.
  again.log.frames[40].suspended = false;
  CpuBackends backends;
  InputRerun rerun(again.log, scene_, backends, "scan"), with(attempt.log, scene_, backends, "scan");
  for (int frame = 0; frame <= 40; ++frame) rerun.step(), with.step();
  EXPECT_NE(rerun.session().instruments()[0].pose.tip, with.session().instruments()[0].pose.tip);
}

}  // namespace
}  // namespace trocar
