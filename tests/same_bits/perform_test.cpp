// Tests that a session gives the same bits everywhere: scripted trainees perform tasks with one thread and with four.
// The session's state in every frame and the score of the recording have one hash each. For kernels and compilers see
// rooms_test.cpp.
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/session/cpu_backends.hpp"
#include "tests/same_bits/task_frames.hpp"

namespace trocar {
namespace {

using test::expect_golden;
using test::expect_golden_model;
using test::Hash;

class SameBitsOfTasks : public test::SameBits {};

struct Performance {
  Hash state, score;
  float most_force = 0.f;  // N
};

void add_metrics(const std::vector<Metric>& metrics, Hash& hash) {
  for (const Metric& metric : metrics) hash.add(metric.value);
}

Performance perform(const std::string& name, int threads) {
  const TemporaryFolder folder;
  Scene scene = test::short_task(name, folder);
  scene.solver.threads = threads;
  CpuBackends backends;
  PerformedSession attempt = test::golden_attempt(scene, backends);
  const TaskFeed& feed = attempt.task().feed();
  const auto file = folder.path() / "attempt.h5";
  SessionRecorder recorder(recording_file(file), scene, attempt.session(), "none");
  Performance performance;
  while (!feed.finished) {
    attempt.step();
    recorder.append(attempt.session(), attempt.time());
    test::add_frame(attempt.session(), performance.state);
    performance.score.add(feed.progress), performance.score.add(feed.score);
    for (const Instrument& instrument : attempt.session().instruments())
      performance.most_force = std::max(performance.most_force, glm::length(instrument.force));
  }
  EXPECT_EQ(held_back(attempt.session()), 0u);
  recorder.close();
  const Attempt scored = score_recording(Recording(file), "attempt");
  add_metrics(scored.overall, performance.score);
  for (const InstrumentScore& instrument : scored.instruments) add_metrics(instrument.metrics, performance.score);
  EXPECT_TRUE(scored.task.has_value());
  if (scored.task) add_metrics(scored.task->parts, performance.score), performance.score.add(scored.task->score);
  return performance;
}

void expect_golden_performance(const std::string& scene, const golden::Performance& expected) {
  for (const int threads : {1, 4}) {
    const Performance made = perform(scene, threads);
    EXPECT_TRUE(scene == "navigate_camera" || made.most_force > 0.005f) << "the hashes know nothing of contacts";
    const std::string run = scene + " with " + std::to_string(threads) + " threads";
    expect_golden_model((run + ", state").c_str(), made.state, expected.state);
    expect_golden((run + ", score").c_str(), made.score, expected.score);
  }
}

TEST_F(SameBitsOfTasks, PerformAndScoreLift) { expect_golden_performance("lift_gallbladder", golden::kLift); }
TEST_F(SameBitsOfTasks, PerformAndScoreBurn) { expect_golden_performance("burn_line", golden::kBurn); }
TEST_F(SameBitsOfTasks, PerformAndScoreCamera) { expect_golden_performance("navigate_camera", golden::kCamera); }

}  // namespace
}  // namespace trocar
