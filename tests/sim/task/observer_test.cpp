// Tests that a session and its recording give a task bit-identical observations (marks, touches, force, removed faces,
// scope), so that a recording has the score of its attempt. The session burns, so that the surface changes under the
// marks.
#include <bit>

#include "app/compare/backends.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/loop/live_measures.hpp"
#include "sim/loop/session_loop.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/review/recording_observer.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/scene/scene_variants.hpp"
#include "sim/score/trainee_summary.hpp"
#include "tests/sim/task/task_support.hpp"
#include "tests/support/test.hpp"

// Lets a scripted trainee perform the task of a scene, records it, and scores the recording.
namespace trocar::test {

// The measures that a trainee reads first have the same bits without a recording.
inline void expect_same_measures(const Attempt& live, const Attempt& recorded) {
  const std::vector<Metric> own = trainee_metrics(live), others = trainee_metrics(recorded);
  const auto ids = [](const std::vector<Metric>& list) {
    std::vector<std::string> names;
    for (const Metric& metric : list) names.push_back(metric.id);
    return names;
  };
  ASSERT_EQ(ids(own), ids(others));
  EXPECT_GE(own.size(), 5u);
  for (std::size_t k = 0; k < own.size(); ++k) {
    EXPECT_EQ(own[k].id, others[k].id);
    EXPECT_EQ(own[k].label, others[k].label);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(own[k].value), std::bit_cast<std::uint64_t>(others[k].value)) << own[k].id;
    EXPECT_EQ(reference_text(own[k]), reference_text(others[k])) << own[k].id;
  }
  EXPECT_EQ(no_judgement_text(live), no_judgement_text(recorded));
}

// Performs the task and writes a recording.
inline TaskResult perform_recorded(const Scene& scene, const HandStyle& style, std::uint32_t seed,
                                   const std::filesystem::path& file) {
  CpuBackends backends;
  PerformedSession attempt(scene, style, seed, backends, "scan");
  SessionRecorder recorder(recording_file(file), scene, attempt.session(), "none");
  LiveMeasures measures;
  while (!attempt.task().feed().finished) {
    attempt.step();
    recorder.append(attempt.session(), attempt.time());
    measures.add(attempt.session(), attempt.score_time());
  }
  recorder.close();
  // The file has the scene as it was loaded: where a test has changed it too much, its task is not scored again.
  const Attempt recorded = score_recording(Recording(file), "s.h5");
  if (recorded.task) expect_same_measures(measures.attempt(scene, &attempt.task()), recorded);
  EXPECT_EQ(held_back(attempt.session()), 0u);
  return attempt.task().result();
}

// Computes the result of the task from the recording alone.
inline TaskResult score_again(const Scene& scene, const std::filesystem::path& file) {
  const Recording recording(file);
  std::vector<OrganSurface> surfaces;
  TaskRun again(*scene.task, stage_of(recording, scene, surfaces));
  RecordingObserver observer(recording, scene.scope.lens, again.marks());
  for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) again.step(observer.observe(frame));
  return again.result();
}

// Performs and records the task, prints the result, and expects the recording to give the same one.
inline TaskResult perform_and_score_again(const Scene& scene, const HandStyle& style, std::uint32_t seed,
                                          const TemporaryFolder& folder) {
  const std::filesystem::path file = folder.path() / "s.h5";
  const TaskResult live = perform_recorded(scene, style, seed, file), again = score_again(scene, file);
  EXPECT_EQ(again.score, live.score);
  EXPECT_EQ(again.events.size(), live.events.size());
  for (std::size_t k = 0; k < std::min(again.events.size(), live.events.size()); ++k)
    EXPECT_EQ(again.events[k].text, live.events[k].text);
  std::printf("score %.1f, %zu events, the last at %.1f s: %s\n", live.score, live.events.size(),
              live.events.empty() ? 0.0 : live.events.back().time,
              live.events.empty() ? "" : live.events.back().text.c_str());
  return live;
}

}  // namespace trocar::test

namespace trocar {
namespace {

// A stored copy of an observation of a session, with the ids of the touched faces.
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

  Kept(const Observation& o, std::span<const Organ> organs)
      : seen(o),
        tools(o.tools.begin(), o.tools.end()),
        marks(o.marks.begin(), o.marks.end()),
        marks_removed(o.marks_removed.begin(), o.marks_removed.end()) {
    for (const SeenOrgan& organ : o.organs) {
      const std::span<const FaceId> ids = queried_ids(organs[touches.size()]);
      touches.emplace_back(organ.touches.touches.begin(), organ.touches.touches.end());
      for (Touch& touch : touches.back()) touch.face = ids[index(touch.face)];
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
      kept_.emplace_back(attempt.seen(), attempt.session().organs());
    }
    recorder.close();
    EXPECT_EQ(held_back(attempt.session()), 0u);
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
  RecordingObserver observer(recording, scene.scope.lens, marks_);
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

// Tests that the score of a performed task follows from its recording too: of a task at a level, of clipping and
// cutting, and of an operation. Scripted trainees perform them in a session.

TEST(RecordedTask, TheRecordingOfALevelAloneGivesItsScoreAndItsNumber) {
  const TemporaryFolder folder;
  const Scene scene = with_level(test::coarse_scene("touch_targets", folder), 3);
  const TaskResult live = test::perform_and_score_again(scene, style_of(Skill::Expert), 1, folder);
  EXPECT_TRUE(live.finished);
  const std::filesystem::path file = folder.path() / "s.h5";
  const Scene recorded = recorded_scene(Recording(file), file);
  EXPECT_EQ(recorded.task->at_level, 3);
  EXPECT_EQ(recorded.task->tolerance, scene.task->tolerance);
  EXPECT_EQ(recorded.instruments[0].pivot, scene.instruments[0].pivot);
}

// The expert divides the duct, the clumsy trainee does not get that far, and the recording gives the same score.
TEST(RecordedTask, OfClippingAndCuttingHasItsScore) {
  const TemporaryFolder folder;
  Scene scene = load_scene(repository_file("data/scenes/tasks/clip_and_cut.toml"));
  // Coarser organs and one duct, to save time.
  scene.organs[0].tissue.node_spacing = 0.018f, scene.organs[1].tissue.node_spacing = 0.009f;
  scene.task->locations.resize(1);
  scene.task->time_good = 24.0, scene.task->time_limit = 25.0;
  const TaskResult expert = test::perform_and_score_again(scene, style_of(Skill::Expert), 1, folder);
  EXPECT_TRUE(expert.finished);
  EXPECT_GE(expert.score, 85.0);
  const TaskResult clumsy = test::perform_and_score_again(scene, style_of(Skill::Clumsy), 1, folder);
  EXPECT_FALSE(clumsy.finished);
  EXPECT_LT(clumsy.score, 50.0);
}

// The expert stretches the band and cuts it, the clumsy trainee does it badly, and the recording gives the same score.
TEST(RecordedTask, OfACutBandHasItsScore) {
  const TemporaryFolder folder;
  Scene scene = load_scene(repository_file("data/scenes/tasks/cut_band.toml"));
  scene.organs.erase(scene.organs.begin());  // the liver, to save time
  const TaskResult expert = test::perform_and_score_again(scene, style_of(Skill::Expert), 1, folder);
  EXPECT_TRUE(expert.finished);
  EXPECT_GE(expert.score, 85.0);
  const TaskResult clumsy = test::perform_and_score_again(scene, style_of(Skill::Clumsy), 1, folder);
  EXPECT_LT(clumsy.score, 85.0) << "the pass mark";
}

// The expert holds the artery where it bleeds, clips it and sucks the field dry.
TEST(RecordedTask, OfAStoppedBleedingHasItsScore) {
  const TemporaryFolder folder;
  Scene scene = load_scene(repository_file("data/scenes/tasks/control_bleeding.toml"));
  // Coarser organs, no omentum, larger frames, and the blood may stay, to save time.
  std::erase_if(scene.organs, [](const OrganScene& organ) { return organ.name == "omentum"; });
  scene.frame_rate = 30.0;
  scene.organs[0].tissue.node_spacing = 0.018f, scene.organs[1].tissue.node_spacing = 0.009f;
  scene.task->steps[1].left_ml = 10.0;
  const TaskResult expert = test::perform_and_score_again(scene, style_of(Skill::Expert), 1, folder);
  EXPECT_TRUE(expert.finished);
  EXPECT_GE(expert.score, 85.0);
}

// The expert opens the peritoneum and melts the fat of the triangle, and the recording, which looks through the same
// window, gives the same score.
TEST(RecordedTask, OfAClearedTriangleHasItsScore) {
  const TemporaryFolder folder;
  Scene scene = load_scene(repository_file("data/scenes/tasks/clear_triangle.toml"));
  for (OrganScene& organ : scene.organs) {
    if (organ.name == "liver") organ.tissue.node_spacing = 0.018f;
    if (organ.name == "gallbladder") organ.tissue.node_spacing = 0.009f;
  }
  const TaskResult expert = test::perform_and_score_again(scene, style_of(Skill::Expert), 1, folder);
  EXPECT_TRUE(expert.finished);
  EXPECT_GE(expert.score, 85.0);
}

// Tests that each single fault of a scripted trainee ends the operation with its own critical error, live and from the
// recording. Seed 1; the scene of the cholecystectomy with coarse organs, without the stomach and the steps that the
// fault does not need.

// `steps`: the kinds of the steps that stay; of the dissections, those of `tissue`. Without a step that clears it away,
// there is no fat.
Scene operation_of(std::vector<StepKind> kinds, const std::string& tissue) {
  Scene scene = load_scene(repository_file("data/scenes/procedures/cholecystectomy.toml"));
  scene.frame_rate = 30.0;
  std::erase_if(scene.organs, [](const OrganScene& organ) { return organ.name == "stomach"; });
  std::erase_if(scene.task->limits, [](const TaskLimit& limit) { return limit.organ == "stomach"; });
  for (OrganScene& organ : scene.organs) {
    if (organ.name == "liver") organ.tissue.node_spacing = 0.018f;
    if (organ.name == "gallbladder") organ.tissue.node_spacing = 0.010f;
  }
  std::erase_if(scene.task->steps, [&](const TaskStep& step) {
    return std::ranges::count(kinds, step.kind) == 0 ||
           (step.kind == StepKind::Dissect && step.tissue.front().name != tissue);
  });
  if (std::ranges::count(kinds, StepKind::Clear) == 0) {
    const auto goes = [](const std::string& organ) { return organ == "fat" || organ == "peritoneum"; };
    std::erase_if(scene.layers, [&](const LayerScene& layer) { return goes(layer.organ) || goes(layer.to); });
    std::erase_if(scene.organs, [&](const OrganScene& organ) { return goes(organ.name); });
  }
  return scene;
}

class OperationFaults : public ::testing::Test {
 protected:
  void expect_end(const Scene& scene, Fault fault, const std::string& text) {
    const TaskResult result = test::perform_and_score_again(scene, style_with(fault, 1.0), 1, folder_);
    EXPECT_FALSE(result.finished);
    EXPECT_LE(result.score, 30.0);
    ASSERT_FALSE(result.events.empty());
    EXPECT_EQ(result.events.back().text, text);
    EXPECT_TRUE(result.events.back().pictured) << "in the report";
  }
  TemporaryFolder folder_;
};

TEST_F(OperationFaults, Unclipped) {
  const TaskResult result = test::perform_and_score_again(operation_of({StepKind::Divide}, ""),
                                                          style_with(Fault::Unclipped, 1.0), 1, folder_);
  EXPECT_EQ(result.critical, "cystic duct cut without a clip on both sides");
  EXPECT_FALSE(result.ended_by_critical) << "the open duct is to be closed";
  EXPECT_LE(result.score, 30.0);
}

TEST_F(OperationFaults, WrongDuct) {
  expect_end(operation_of({StepKind::Divide}, ""), Fault::WrongDuct, "critical: a clip on the common bile duct");
}

TEST_F(OperationFaults, DeepBurn) {
  expect_end(operation_of({StepKind::Dissect}, "bed"), Fault::DeepBurn,
             "critical: the liver is burnt deeper than 3.0 mm");
}

// The duct is to be cut without clips, to save time.
TEST_F(OperationFaults, NoView) {
  Scene scene = operation_of({StepKind::Clear, StepKind::Divide}, "");
  scene.task->rules.clips_staying = 0.0;
  expect_end(scene, Fault::NoView, "critical: divided before this step was done: clear the hepatocystic triangle");
}

}  // namespace

}  // namespace trocar
