// Tests that a session and its recording give a task bit-identical observations (marks, touches, force, removed faces,
// scope), so that a recording has the score of its attempt. The session burns, so that the surface changes under the
// marks.
#include <gtest/gtest.h>

#include "app/compare/backends.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/review/recording_observer.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/task/performed_session.hpp"
#include "tests/sim/task_support.hpp"

namespace trocar {
namespace {

// A stored copy of an observation.
struct Kept {
  Observation seen;
  std::vector<SeenTool> tools;
  std::vector<glm::vec3> marks;
  std::vector<std::uint8_t> marks_removed;
  std::vector<std::vector<Touch>> touches;        // [organ]
  std::vector<std::vector<std::uint32_t>> first;  // [organ]
  std::vector<std::vector<float>> pressure;       // [organ]
  std::vector<std::uint32_t> removed;             // [organ]
  std::vector<std::vector<glm::vec3>> new_rest;   // [organ]
  std::vector<std::uint8_t> intact;               // [fibre]
  std::vector<FibreEnds> ends;                    // [fibre]
  std::vector<std::uint32_t> broken;
  std::vector<FibreBreak> how;

  explicit Kept(const Observation& o)
      : seen(o),
        tools(o.tools.begin(), o.tools.end()),
        marks(o.marks.begin(), o.marks.end()),
        marks_removed(o.marks_removed.begin(), o.marks_removed.end()) {
    for (const SeenOrgan& organ : o.organs) {
      touches.emplace_back(organ.touches.touches.begin(), organ.touches.touches.end());
      first.emplace_back(organ.touches.first.begin(), organ.touches.first.end());
      pressure.emplace_back(organ.pressure.begin(), organ.pressure.end());
      removed.push_back(organ.faces_removed);
      new_rest.emplace_back(organ.new_rest.begin(), organ.new_rest.end());
    }
    const SeenFibres& f = o.fibres;
    intact.assign(f.intact.begin(), f.intact.end()), ends.assign(f.ends.begin(), f.ends.end());
    broken.assign(f.broken.begin(), f.broken.end()), how.assign(f.how.begin(), f.how.end());
  }
};

bool same(const Touch& a, const Touch& b) {
  return a.face == b.face && a.point == b.point && a.normal == b.normal && a.depth == b.depth && a.time == b.time;
}

void expect_same(const Kept& live, const Observation& other) {
  EXPECT_EQ(live.seen.time, other.time);
  ASSERT_EQ(live.tools.size(), other.tools.size());
  for (std::size_t k = 0; k < live.tools.size(); ++k) {
    const SeenTool &a = live.tools[k], &b = other.tools[k];
    EXPECT_TRUE(a.pose.pivot == b.pose.pivot && a.pose.tip == b.pose.tip && a.pose.radius == b.pose.radius);
    EXPECT_TRUE(a.roll_deg == b.roll_deg && a.grip == b.grip && a.energy == b.energy && a.heats == b.heats);
    EXPECT_TRUE(a.force == b.force && a.tip_depth == b.tip_depth);
  }
  ASSERT_EQ(live.marks.size(), other.marks.size());
  EXPECT_TRUE(std::equal(live.marks.begin(), live.marks.end(), other.marks.begin()));
  EXPECT_TRUE(std::ranges::equal(live.marks_removed, other.marks_removed));
  for (std::size_t k = 0; k < live.touches.size(); ++k) {
    const SeenOrgan& organ = other.organs[k];
    ASSERT_EQ(live.touches[k].size(), organ.touches.touches.size());
    EXPECT_TRUE(std::equal(live.touches[k].begin(), live.touches[k].end(), organ.touches.touches.begin(), same));
    EXPECT_TRUE(std::equal(live.first[k].begin(), live.first[k].end(), organ.touches.first.begin()));
    ASSERT_EQ(live.pressure[k].size(), organ.pressure.size()) << live.touches[k].size() << " touches";
    EXPECT_TRUE(std::equal(live.pressure[k].begin(), live.pressure[k].end(), organ.pressure.begin()));
    EXPECT_EQ(live.removed[k], organ.faces_removed);
    EXPECT_TRUE(std::ranges::equal(live.new_rest[k], organ.new_rest));
  }
  EXPECT_TRUE(std::ranges::equal(live.intact, other.fibres.intact));
  EXPECT_TRUE(std::ranges::equal(live.ends, other.fibres.ends,
                                 [](const FibreEnds& a, const FibreEnds& b) { return a.a == b.a && a.b == b.b; }));
  EXPECT_TRUE(std::ranges::equal(live.broken, other.fibres.broken));
  EXPECT_TRUE(std::ranges::equal(live.how, other.fibres.how));
  EXPECT_TRUE(live.seen.scope.port == other.scope.port && live.seen.scope.eye == other.scope.eye);
  EXPECT_EQ(live.seen.scope.spin_deg, other.scope.spin_deg);
  EXPECT_EQ(live.seen.scope.angle_deg, other.scope.angle_deg);
  EXPECT_EQ(live.seen.scope.field_of_view_deg, other.scope.field_of_view_deg);
  EXPECT_EQ(live.seen.hidden, other.hidden);
  EXPECT_EQ(live.seen.lens.barrel, other.lens.barrel);
  EXPECT_EQ(live.seen.lens.field, other.lens.field);
}

void expect_same(const TaskResult& live, const TaskResult& other) {
  EXPECT_EQ(live.kind, other.kind);
  EXPECT_EQ(live.title, other.title);
  EXPECT_EQ(live.finished, other.finished);
  EXPECT_EQ(live.score, other.score);
  ASSERT_EQ(live.parts.size(), other.parts.size());
  for (std::size_t k = 0; k < live.parts.size(); ++k) {
    EXPECT_EQ(live.parts[k].id, other.parts[k].id);
    if (std::isfinite(live.parts[k].value)) {
      EXPECT_EQ(live.parts[k].value, other.parts[k].value) << live.parts[k].id;
    }
  }
  ASSERT_EQ(live.events.size(), other.events.size());
  for (std::size_t k = 0; k < live.events.size(); ++k) {
    EXPECT_EQ(live.events[k].time, other.events[k].time);
    EXPECT_EQ(live.events[k].error, other.events[k].error);
    EXPECT_EQ(live.events[k].text, other.events[k].text);
  }
}

class Observers : public ::testing::TestWithParam<std::string> {
 protected:
  // Performs, records and stores every frame that the task saw.
  TaskResult perform(const Scene& scene, Skill skill) {
    Backends backends;
    PerformedSession attempt(scene, style_of(skill), 1, backends, "scan");
    SessionRecorder recorder(recording_file(file()), scene, attempt.session(), "");
    for (std::size_t frame = 0; frame < 200; ++frame) {
      attempt.step();
      recorder.append(attempt.session(), attempt.time());
      kept_.emplace_back(attempt.seen());
    }
    recorder.close();
    marks_ = attempt.task().marks();
    return attempt.task().result();
  }

  std::filesystem::path file() const { return folder_.path() / "s.h5"; }

  TemporaryFolder folder_;
  std::vector<Kept> kept_;
  std::vector<SurfaceMark> marks_;
};

TEST_P(Observers, ARecordingGivesTheSessionsObservations) {
  const Scene scene = test::coarse_scene(GetParam(), folder_);
  const TaskResult live = perform(scene, Skill::Clumsy);
  const Recording recording(file());
  RecordingObserver observer(recording, scene.scope, marks_);
  ASSERT_EQ(recording.frame_count(), kept_.size());
  std::uint32_t removed = 0;
  for (std::size_t frame = 0; frame < kept_.size(); ++frame) {
    const Observation& seen = observer.observe(frame);
    expect_same(kept_[frame], seen);
    for (const SeenOrgan& organ : seen.organs) removed += organ.faces_removed;
    if (HasFailure()) FAIL() << "frame " << frame;
  }
  if (GetParam() == "burn_line") {
    EXPECT_GT(removed, 50u) << "the test is only meaningful if the surface changed";
  }
  const auto rescored = score_task(recording);
  ASSERT_TRUE(rescored);
  expect_same(live, *rescored);
}

INSTANTIATE_TEST_SUITE_P(Tasks, Observers, ::testing::ValuesIn(test::task_scenes()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace trocar
