// Tests that a session gives the same bits everywhere: scripted trainees perform tasks with one thread and with four.
// The session's state in every frame and the score of the recording have one hash each. For kernels and compilers see
// rooms_test.cpp.
#include "app/compare/backends.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/task/performed_session.hpp"
#include "tests/same_bits/same_bits.hpp"
#include "tests/sim/task_support.hpp"

namespace trocar {
namespace {

using test::expect_golden;
using test::expect_golden_model;
using test::Hash;

class SameBitsOfTasks : public test::SameBits {};

struct Performance {
  Hash state, score;
};

void add_frame(const Session& session, Hash& hash) {
  for (const Organ& organ : session.organs()) {
    hash.add_all(organ.state.x), hash.add_all(organ.state.v), hash.add_all(organ.positions);
    hash.add(organ.topology);
    for (const glm::uvec3& face : organ.mesh.faces) hash.add(glm::dvec3(face));
    hash.add_all(organ.touches.touches);
    for (const float damage : organ.damage.peak) hash.add(double(damage));
  }
  for (const Instrument& instrument : session.instruments()) {
    hash.add(instrument.pose.pivot), hash.add(instrument.pose.tip), hash.add(instrument.force);
    hash.add(instrument.roll_deg), hash.add(instrument.grip);
  }
  hash.add(session.scope().pose.eye), hash.add(session.scope().pose.spin_deg);
  hash.add_all(session.marks());
}

void add_metrics(const std::vector<Metric>& metrics, Hash& hash) {
  for (const Metric& metric : metrics) hash.add(metric.value);
}

Performance perform(const std::string& name, int threads) {
  const TemporaryFolder folder;
  Scene scene = test::coarse_scene(name, folder);
  scene.task->time_good = 5.0, scene.task->time_limit = 9.0;
  scene.solver.threads = threads;
  Backends backends;
  PerformedSession attempt(scene, style_of(Skill::Clumsy), 7, backends, "scan");
  const TaskFeed& feed = attempt.task().feed();
  const auto file = folder.path() / "attempt.h5";
  SessionRecorder recorder(recording_file(file), scene, attempt.session(), "none");
  Performance performance;
  while (!feed.finished) {
    attempt.step();
    recorder.append(attempt.session(), attempt.time());
    add_frame(attempt.session(), performance.state);
    performance.score.add(feed.progress), performance.score.add(feed.score);
  }
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
