// Tests a replay: its position and speed, the marks of its timeline, and that every frame equals that of the session.
#include <gtest/gtest.h>

#include <algorithm>

#include "app/compare/backends.hpp"
#include "app/window/practice/practice.hpp"
#include "app/window/replay/replay_scene.hpp"
#include "app/window/replay/replay_screen.hpp"
#include "geometry/error.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/support/files.hpp"
#include "tests/app/ball_task.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

TEST(Playback, PlaysStopsAndStartsAgain) {
  const std::vector<double> times = {5.0, 5.1, 5.2, 5.4};
  Playback playback(times);
  EXPECT_DOUBLE_EQ(playback.duration(), 5.4 - 5.0);
  playback.advance(1.0);
  EXPECT_EQ(playback.frame(), 0u);
  playback.toggle();
  playback.advance(0.15);
  EXPECT_EQ(playback.frame(), 1u);
  playback.advance(0.06);
  EXPECT_EQ(playback.frame(), 2u);
  playback.advance(100.0);
  EXPECT_EQ(playback.frame(), 3u);
  EXPECT_FALSE(playback.playing());
  EXPECT_DOUBLE_EQ(playback.share(), 1.0);
  playback.toggle();
  EXPECT_TRUE(playback.playing());
  EXPECT_EQ(playback.frame(), 0u);
}

TEST(Playback, StepsSeeksAndChangesSpeedWithinBounds) {
  const std::vector<double> times = {0.0, 0.1, 0.2};
  Playback playback(times);
  playback.toggle();
  playback.step(-1);
  EXPECT_FALSE(playback.playing());
  EXPECT_EQ(playback.frame(), 0u);
  playback.step(1);
  EXPECT_EQ(playback.frame(), 1u);
  playback.step(100);
  EXPECT_EQ(playback.frame(), 2u);
  playback.seek(1000);
  EXPECT_EQ(playback.frame(), 2u);
  playback.faster(100);
  EXPECT_DOUBLE_EQ(playback.speed(), 8.0);
  playback.faster(-100);
  EXPECT_DOUBLE_EQ(playback.speed(), 0.1);
  EXPECT_EQ(playback.frame_at_share(-1.0), 0u);
  EXPECT_EQ(playback.frame_at_share(0.5), 1u);
  EXPECT_EQ(playback.frame_at_share(2.0), 2u);
}

TEST(Playback, ShowsATimeOfItsClock) {
  const std::vector<double> times = {5.0, 5.1, 5.2, 5.4};
  Playback playback(times);
  playback.toggle();
  playback.show(5.15);
  EXPECT_FALSE(playback.playing());
  EXPECT_EQ(playback.frame(), 1u);
  playback.show(-2.0);
  EXPECT_EQ(playback.frame(), 0u);
  playback.show(100.0);
  EXPECT_EQ(playback.frame(), 3u);
}

TEST(Playback, OneFrame) {
  const std::vector<double> times = {3.0};
  Playback playback(times);
  playback.toggle();
  playback.advance(1.0);
  EXPECT_EQ(playback.frame(), 0u);
  EXPECT_DOUBLE_EQ(playback.share(), 0.0);
  EXPECT_EQ(playback.frame_at_share(0.7), 0u);
}

TEST(ForceMarks, MarksStartsOfTouchesAndForcePeaks) {
  EXPECT_TRUE(force_marks({}).empty());
  const std::vector<float> force = {0.f, 0.5f, 1.2f, 2.f, 1.5f, 0.f, 0.f, 0.3f, 1.1f};
  const auto marks = force_marks(force);
  ASSERT_EQ(marks.size(), 4u);
  EXPECT_EQ(marks[0].frame, 1u);
  EXPECT_EQ(marks[0].kind, MarkKind::Touch);
  EXPECT_EQ(marks[1].frame, 3u);
  EXPECT_EQ(marks[1].kind, MarkKind::ForcePeak);
  EXPECT_EQ(marks[2].frame, 7u);
  EXPECT_EQ(marks[3].frame, 8u);
  EXPECT_EQ(marks[3].kind, MarkKind::ForcePeak);
  EXPECT_EQ(profile_of(force, 3), (std::vector<float>{1.2f, 2.f, 1.1f}));
}

// A recorded session with burning and tearing; the test keeps the contents of some frames.
class Recorded : public ::testing::Test {
 protected:
  struct Kept {
    std::vector<std::vector<glm::vec3>> positions;  // [organ][vertex]
    std::vector<std::vector<FaceId>> touched;       // [organ] by slot
    ScopePose scope;
  };
  static constexpr std::size_t kFrames = 90;

  void SetUp() override {
    const Scene scene = load_scene(data_file("scenes/tour.toml"));
    Backends backends;
    Session session(scene, backends, "scan", {}, [](const InstrumentScene& instrument) {
      return make_script_device({instrument.pivot, instrument.tip, instrument.script});
    });
    file_ = folder_.path() / "s.h5";
    SessionRecorder recorder(recording_file(file_), scene, session, "none");
    for (std::size_t frame = 0; frame < kFrames; ++frame) {
      // These are the surfaces at the time of the touch query, before the step moves the tissue.
      Kept kept;
      for (const Organ& organ : session.organs()) kept.positions.push_back(organ.positions);
      session.step({frame, static_cast<double>(frame) / 60.0}, 1.0 / 60.0);
      recorder.append(session, static_cast<double>(frame) / 60.0);
      for (const Organ& organ : session.organs()) {
        kept.touched.emplace_back();
        for (const Touch& touch : organ.touches.touches) kept.touched.back().push_back(touch.face);
      }
      kept.scope = session.scope().pose;
      kept_.push_back(std::move(kept));
    }
    recorder.close();
  }

  void expect_shown(ReplayScene& replay, std::size_t frame) {
    SCOPED_TRACE(frame);
    replay.load(frame);
    for (std::size_t k = 0; k < kept_[frame].positions.size(); ++k) {
      const DrawnOrgan& organ = replay.organs()[k];
      ASSERT_EQ(organ.positions.size(), kept_[frame].positions[k].size());
      for (std::size_t v = 0; v < organ.positions.size(); ++v)
        ASSERT_LT(glm::distance(organ.positions[v], kept_[frame].positions[k][v]), 1e-6f);
      std::vector<FaceId> touched;
      for (const Touch& touch : organ.touches.touches) {
        touched.push_back(touch.face);
        ASSERT_LT(index(touch.face), organ.rest.faces.size());
      }
      EXPECT_EQ(touched, kept_[frame].touched[k]);
    }
    EXPECT_EQ(replay.scope().eye, kept_[frame].scope.eye);
  }

  TemporaryFolder folder_;
  std::filesystem::path file_;
  std::vector<Kept> kept_;
};

TEST_F(Recorded, FramesEqualTheSessionsInAnyOrder) {
  ReplayScene replay(file_);
  std::size_t touched = 0;
  for (std::size_t frame = 0; frame < kFrames; frame += 7) expect_shown(replay, frame);
  for (const std::size_t frame : {kFrames - 1, std::size_t{3}, std::size_t{60}, std::size_t{0}}) {
    expect_shown(replay, frame);
    for (std::size_t tool = 0; tool < replay.tools().size(); ++tool) touched += replay.touched(0, tool);
  }
  EXPECT_GT(touched, 0u);
  EXPECT_EQ(replay.scene().instruments.size(), replay.tools().size());
  const auto force = force_of(replay.recording(), 0);
  EXPECT_EQ(force.size(), kFrames);
  EXPECT_GT(*std::ranges::max_element(force), 0.f);
}

TEST_F(Recorded, WithoutATaskTheScanIsEmpty) {
  const Recording recording(file_);
  TaskScan scan(recording, parse_scene(recording.text("scene"), file_));
  EXPECT_TRUE(scan.work(0.0));
  EXPECT_TRUE(scan.events().empty());
}

TEST_F(Recorded, TheScanGivesTheEventsOfScoreTask) {
  const Recording recording(file_);
  Scene scene = parse_scene(recording.text("scene"), file_);
  scene.task.emplace();
  scene.task->locations = {{"liver", {-0.076f, 0.09f, 0.176f}}};
  scene.task->most_force = 0.05;
  TaskScan scan(recording, scene);
  int rounds = 0;
  while (!scan.work(1.0)) ++rounds;
  EXPECT_GT(rounds, 0);
  EXPECT_FALSE(scan.events().empty());
  scene.task->locations[0].organ = "spleen";
  EXPECT_TRUE(TaskScan(recording, scene).work(0.0));
}

bool same(const DrawnStrand& a, const DrawnStrand& b) {
  return a.from == b.from && a.to == b.to && a.radius == b.radius;
}

TEST(MarkTrack, EmptyTracksAndEmptyFramesHaveNoMarks) {
  MarkTrack track;
  DrawnMarks marks;
  marks.targets.emplace_back();
  track.get(0, marks);
  EXPECT_TRUE(same_marks(marks, {}));
  track.add({});
  track.get(7, marks);
  EXPECT_TRUE(same_marks(marks, {}));
  EXPECT_EQ(track.frames(), 1u);
}

TEST(MarkTrack, GivesEveryFrameInAnyOrder) {
  std::vector<glm::vec3> points = {{0, 0, 0}, {1, 0, 0}};
  const std::vector<glm::dvec2> outline = {{0, 0}, {1, 0}, {0, 1}};
  const auto marks_of = [&](std::size_t frame) {
    DrawnMarks marks;
    for (std::size_t k = 0; k < 3 - frame / 4; ++k) marks.targets.push_back({points[0], 0.1f, MarkState::Next, int(k)});
    if (frame % 3 > 0) marks.paths.push_back({points, 0.1f, frame / 2, MarkState::Waiting});
    marks.zones.push_back({outline, frame % 2 == 0});
    return marks;
  };
  MarkTrack track;
  std::vector<std::vector<glm::vec3>> kept;
  for (std::size_t frame = 0; frame < 9; ++frame) {
    if (frame % 4 == 1) points.push_back({0, static_cast<float>(frame), 0});
    kept.push_back(points);
    track.add(marks_of(frame));
  }
  for (const std::size_t frame : {8, 0, 3, 4, 1, 7, 2, 5, 6}) {
    points = kept[frame];
    DrawnMarks marks;
    track.get(frame, marks);
    EXPECT_TRUE(same_marks(marks, marks_of(frame))) << frame;
  }
}

// The marks that the window showed during a demonstration, and those of its recording.
TEST(TaskScan, TheMarksAreThoseOfTheLiveSession) {
  const TemporaryFolder folder;
  const Scene scene =
      load_scene(test::write_ball_task(folder,
                                       "[[task.place]]\norgan = \"ball\"\nat_mm = [35, 35, 0]\n[[task.zone]]\n"
                                       "outline = [[-0.4, -0.4], [0.4, -0.4], [0.0, 0.4]]\n"));
  PracticePlan plan;
  plan.backend = "scan", plan.check = false, plan.performer = Skill::Clumsy, plan.folder = folder.path();
  Practice live(scene, plan, nullptr);
  live.start();
  MarkTrack shown;
  for (int k = 0; k < 6000 && live.phase() == Phase::Running; ++k) {
    live.advance({}, 1.0 / 60.0, {});
    if (live.session().frames() == shown.frames()) continue;
    ASSERT_EQ(live.session().frames(), shown.frames() + 1);
    DrawnMarks marks;
    live.task()->draw(marks);
    shown.add(marks);
  }
  ASSERT_EQ(live.phase(), Phase::Ended);
  const Recording recording(live.recording());
  TaskScan scan(recording, parse_scene(recording.text("scene"), scene.file));
  while (!scan.work(1e3)) continue;
  ASSERT_EQ(scan.marks().frames(), shown.frames());
  std::size_t changes = 0;
  DrawnMarks before, now, recorded;
  for (std::size_t frame = 0; frame < shown.frames(); ++frame) {
    shown.get(frame, now);
    scan.marks().get(frame, recorded);
    ASSERT_TRUE(same_marks(now, recorded)) << frame;
    if (!same_marks(now, before)) ++changes;
    before = now;
  }
  std::printf("%zu frames, in %zu of them the marks change\n", shown.frames(), changes);
  EXPECT_EQ(now.targets.size(), 2u);
  EXPECT_GT(changes, 10u);
}

// A recorded frame shows the organs at its touch query, as a window did before that frame. So do the strands.
TEST(ReplayScene, StrandsAreThoseOfTheLiveView) {
  Scene scene = load_scene(data_file("scenes/gallbladder_bed.toml"));
  scene.instruments[1].tip = {-0.055, 0.060, 0.158};  // the hook cuts in the bed
  Backends backends;
  Session session(scene, backends, "scan", {}, [](const InstrumentScene& instrument) {
    return make_script_device({instrument.pivot, instrument.tip, instrument.script, 0.012, 0.008, 2.0});
  });
  const TemporaryFolder folder;
  SessionRecorder recorder(recording_file(folder.path() / "s.h5"), scene, session, "none");
  std::vector<DrawnBonds> live;
  std::size_t broken = 0;
  for (std::size_t frame = 0; frame < 70; ++frame) {
    live.emplace_back();
    drawn_bonds(session, live.back());
    session.step({frame, static_cast<double>(frame) / 60.0}, 1.0 / 60.0);
    recorder.append(session, static_cast<double>(frame) / 60.0);
    broken += session.bonds().bonds().broken.size();
  }
  recorder.close();
  ReplayScene replay(folder.path() / "s.h5");
  std::size_t most = 0;
  for (const std::size_t frame : {0, 69, 10, 20, 24, 25, 26, 30, 33, 34, 50, 60}) {
    replay.load(frame);
    EXPECT_TRUE(std::ranges::equal(replay.bonds().strands, live[frame].strands, same)) << frame;
    most = std::max(most, live[frame].strands.size());
  }
  std::printf("%zu to %zu strands are drawn, %zu fibres break\n", live[0].strands.size(), most, broken);
  EXPECT_GE(live[0].strands.size(), 10u) << "the round ligament";
  EXPECT_GT(most, live[0].strands.size()) << "the bed is stretched";
  EXPECT_GT(broken, 0u);
}

// Pictures of one session, recorded with and without its fibres.
TEST(ReplayScreen, DrawsTheStrands) {
  Backends backends;
  if (!backends.context()) GTEST_SKIP() << "SKIPPED: no OpenGL (" << backends.why_no_context() << ")";
  const Scene scene = load_scene(data_file("scenes/gallbladder_bed.toml"));
  Session session(scene, backends, "scan", {}, [](const InstrumentScene& instrument) {
    return make_script_device({instrument.pivot, instrument.tip, instrument.script});
  });
  const TemporaryFolder folder;
  const OpenSink without_fibres = [&](RecordingHeader header) {
    header.fibres.clear();
    return recording_file(folder.path() / "without.h5")(header);
  };
  SessionRecorder with(recording_file(folder.path() / "with.h5"), scene, session, "none");
  SessionRecorder without(without_fibres, scene, session, "none");
  session.step({0, 0.0}, 1.0 / 60.0);
  with.append(session, 0.0), without.append(session, 0.0);
  with.close(), without.close();
  WindowSettings settings;
  settings.quality = Quality::Low;
  const auto picture = [&](const char* name) {
    ReplayScreen screen(folder.path() / name, settings, *backends.context());
    PictureTarget target(320, 240);
    target.bind();
    screen.picture({320, 240});
    return target.pixels();
  };
  const auto strands = picture("with.h5"), plain = picture("without.h5");
  EXPECT_EQ(plain, picture("without.h5"));
  std::size_t changed = 0;
  for (std::size_t k = 0; k < plain.size(); ++k) changed += plain[k] != strands[k];
  std::printf("the round ligament changes %zu of %zu pixels\n", changed, plain.size());
  EXPECT_GT(changed, 50u);
}

TEST(ReplayScene, AFileThatIsNotARecordingGivesAnErrorMessage) {
  TemporaryFolder folder;
  EXPECT_THROW(ReplayScene(folder.write("x.h5", "not HDF5")), InputError);
}

}  // namespace
}  // namespace trocar
