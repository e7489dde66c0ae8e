// Tests connective tissue in recordings: the ends and the intact fibres of every frame are those of the session, bit
// for bit; sessions without fibres have no tables of them; damaged tables are refused with one sentence.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <thread>
#include <vector>

#include "app/compare/backends.hpp"
#include "app/window/practice/hud.hpp"
#include "cpu_collision/queries.hpp"
#include "geometry/error.hpp"
#include "mesh/mesh_report.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/review/recorded_frames.hpp"
#include "sim/review/recording_observer.hpp"
#include "sim/task/session_observer.hpp"
#include "tests/sim/recording/put_cell.hpp"
#include "tests/sim/recording/recorded_script.hpp"
#include "tests/sim/session/duct_session.hpp"
#include "tests/sim/session/fluid_session.hpp"
#include "tests/sim/session/session_support.hpp"
#include "tests/sim/session/tissue_session.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

// Records the session of a duct, compares every frame of the recording with the session, and damages copies of the
// file.
namespace trocar::test {

// `Seen`: what the test compares of a frame. It is made from an Observation; expect_same(recorded, live) compares two.
template <class Seen>
class RecordedDuct : public DuctSession {
 protected:
  // Records each further frame.
  void begin_recording() {
    recorder_.emplace(recording_file(file_), scene_, *session_, "none");
    after_frame_ = [this](std::uint64_t frame) {
      const double time = double(frame) * kFrame;
      recorder_->append(*session_, time);
      seen_.emplace_back(observer_.observe(*session_, time));
    };
  }
  void end_recording() {
    after_frame_ = nullptr;
    recorder_->close();
    recorder_.reset();
  }

  void expect_all(const std::filesystem::path& file) const {
    const Recording recording(file);
    ASSERT_EQ(recording.frame_count(), seen_.size());
    RecordingObserver observer(recording, scene_.scope.lens, {});
    for (std::size_t frame = 0; frame < seen_.size(); ++frame)
      ASSERT_NO_FATAL_FAILURE(expect_same(Seen(observer.observe(frame)), seen_[frame])) << "frame " << frame;
  }

  // Expects one sentence for a copy of the recording with another number in the first row of a table.
  void expect_refused(const char* table, std::uint64_t column, std::uint32_t value, const char* part) const {
    const std::filesystem::path copy = folder_.path() / "damaged.h5";
    std::filesystem::copy_file(file_, copy, std::filesystem::copy_options::overwrite_existing);
    put_cell(copy, table, {0, column}, value);
    std::string text = "no error";
    try {
      const Recording recording(copy);
    } catch (const InputError& error) {
      text = error.what();
    }
    EXPECT_NE(text.find(part), std::string::npos) << table << ": " << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }

  std::filesystem::path file_ = folder_.path() / "s.h5";
  std::optional<SessionRecorder> recorder_;
  SessionObserver observer_;
  std::vector<Seen> seen_;  // [recorded frame]
};

}  // namespace trocar::test

namespace trocar::recorded_tissue_test {
namespace {

// The scene of the product without its ducts, with a bed that tears where the grasper pulls and the hook presses.
Scene torn_bed() {
  Scene scene = load_scene(repository_file("data/scenes/gallbladder_bed.toml"));
  std::erase_if(scene.organs, [](const OrganScene& organ) { return organ.tube.has_value(); });
  std::erase_if(scene.layers, [](const LayerScene& layer) { return layer.name != "bed"; });
  scene.layers[0].params.break_strain = 0.05f;
  scene.instruments[1].tip = {-0.055, 0.060, 0.158};
  return scene;
}

// What a session shows after a frame, or before the first.
struct Shown {
  std::vector<FibreEnds> ends;
  std::vector<std::uint8_t> intact;
  std::vector<std::uint32_t> broken;
  std::vector<FibreBreak> how;
  std::vector<std::uint32_t> group;
};

Shown shown_by(const Session& session) {
  const Bonds& bonds = session.bonds().bonds();
  const auto groups = session.bonds().groups();
  Shown shown{{}, bonds.intact, bonds.broken, bonds.broken_how, {groups.begin(), groups.end()}};
  for (std::size_t f = 0; f < bonds.fibres.size(); ++f) shown.ends.push_back(session.bonds().ends(f));
  return shown;
}

struct LoadedFibres {
  Recording recording;
  RecordedFibres fibres{recording};
  std::vector<OrganFrame> organs{recording.organs().size()};
  std::vector<std::span<const glm::vec3>> nodes{recording.organs().size()};

  void load(std::size_t frame) {
    for (std::size_t k = 0; k < organs.size(); ++k) {
      recording.read_frame(frame, k, organs[k]);
      nodes[k] = organs[k].nodes;
    }
    fibres.load(frame, nodes);
  }
};

// The fibres of a frame are those that the session had when the frame began.
void expect_same(LoadedFibres& loaded, std::size_t frame, const Shown& before, const Shown& after) {
  loaded.load(frame);
  ASSERT_EQ(loaded.fibres.size(), before.ends.size());
  for (std::size_t f = 0; f < before.ends.size(); ++f) {
    ASSERT_EQ(loaded.fibres.at_rest(f).group, before.group[f]) << "fibre " << f;
    ASSERT_EQ(loaded.fibres.intact(f), before.intact[f] != 0) << "frame " << frame << ", fibre " << f;
    ASSERT_EQ(loaded.fibres.ends(f).a, before.ends[f].a) << "frame " << frame << ", fibre " << f;
    ASSERT_EQ(loaded.fibres.ends(f).b, before.ends[f].b) << "frame " << frame << ", fibre " << f;
  }
  ASSERT_TRUE(std::ranges::equal(broken_in(loaded.recording.fibres(), frame), after.broken)) << "frame " << frame;
  ASSERT_TRUE(std::ranges::equal(how_broken_in(loaded.recording.fibres(), frame), after.how)) << "frame " << frame;
}

// Frames in which fibres break.
constexpr std::size_t kFirstBreak = 8, kLastBreak = 10;

class RecordedBed : public ::testing::Test {
 protected:
  // Records the frames of a session from `first` to `last` - 1.
  std::vector<Shown> record(std::size_t first, std::size_t last) {
    const Scene scene = torn_bed();
    Session session(scene, backends_, "scan", {}, [](const InstrumentScene& instrument) {
      return make_script_device({instrument.pivot, instrument.tip, instrument.script, 0.012, 0.008, 2.0});
    });
    std::size_t frame = 0;
    const auto step = [&] { session.step({frame, double(frame) * kFrame}, kFrame), ++frame; };
    while (frame < first) step();
    std::vector<Shown> shown = {shown_by(session)};
    SessionRecorder recorder(recording_file(file_), scene, session, "none");
    while (frame < last) {
      step();
      recorder.append(session, double(frame) * kFrame);
      shown.push_back(shown_by(session));
    }
    recorder.close();
    return shown;
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "s.h5";
  Backends backends_;
};

// Checks every frame, in ascending and in another order. Returns the number of fibres that break.
std::size_t expect_all(LoadedFibres& loaded, const std::vector<Shown>& shown) {
  std::size_t broken = 0;
  for (std::size_t frame = 0; frame + 1 < shown.size(); ++frame) {
    expect_same(loaded, frame, shown[frame], shown[frame + 1]);
    broken += shown[frame + 1].broken.size();
  }
  for (const std::size_t frame : {shown.size() - 2, std::size_t{3}, shown.size() / 2, std::size_t{0}})
    expect_same(loaded, frame, shown[frame], shown[frame + 1]);
  std::printf("%zu fibres, %zu broken before, %zu in %zu frames\n", loaded.fibres.size(),
              broken_before(loaded.recording.fibres(), 0).size(), broken, loaded.recording.frame_count());
  return broken;
}

// Fibres break in several frames, also in the last one of the recording.
TEST_F(RecordedBed, FibresAreThoseOfTheSessionInEveryFrame) {
  const std::vector<Shown> shown = record(0, kLastBreak + 1);
  LoadedFibres loaded{Recording(file_)};
  EXPECT_GT(loaded.fibres.size(), 100u);
  EXPECT_GT(expect_all(loaded, shown), 5u);
  EXPECT_TRUE(broken_before(loaded.recording.fibres(), 0).empty());
  EXPECT_GT(shown[kFirstBreak + 1].broken.size(), 0u);
  EXPECT_GT(shown.back().broken.size(), 0u);
}

TEST_F(RecordedBed, FibresBrokenBeforeTheRecordingStayBroken) {
  const std::vector<Shown> shown = record(kFirstBreak + 1, kLastBreak + 7);
  LoadedFibres loaded{Recording(file_)};
  EXPECT_GT(expect_all(loaded, shown), 0u);
  EXPECT_GT(broken_before(loaded.recording.fibres(), 0).size(), 0u);
}

// A recording of the script, with one change to its file.
class ChangedFibres : public ::testing::Test {
 protected:
  void record(const RecordingHeader& header) const {
    Recorder recorder(file_, header);
    for (std::uint32_t frame = 0; frame < 20; ++frame) script_.append(recorder, frame);
    recorder.close();
  }
  void change(const std::function<void(hid_t)>& what) const {
    std::filesystem::remove(file_);
    record(script_.header);
    const hid_t file = H5Fopen(file_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    ASSERT_GE(file, 0);
    what(file);
    H5Fclose(file);
  }
  // Overwrites the first number of a table.
  void put_first(const char* path, double value) const {
    change([&](hid_t file) { test::put_cell(file, path, {0, 0, 0}, value); });
  }
  void set_rows(std::initializer_list<const char*> paths, hsize_t rows) const {
    change([&](hid_t file) {
      for (const char* path : paths) {
        const hid_t table = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(table);
        hsize_t shape[3] = {};
        H5Sget_simple_extent_dims(space, shape, nullptr);
        shape[0] = rows;
        EXPECT_GE(H5Dset_extent(table, shape), 0);
        H5Sclose(space), H5Dclose(table);
      }
    });
  }
  void expect_refused(const std::string& sentence) const {
    try {
      const Recording recording(file_);
      ADD_FAILURE() << "was read, not refused: " << sentence;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()), file_.string() + ": " + sentence);
    }
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "s.h5";
  test::Script script_;
};

TEST_F(ChangedFibres, WithoutFibresThereAreNoTablesOfThem) {
  RecordingHeader header = script_.header;
  header.fibres.clear(), header.broken.clear();
  record(header);
  const hid_t file = H5Fopen(file_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  EXPECT_EQ(H5Lexists(file, "/bonds", H5P_DEFAULT), 0);
  H5Fclose(file);
  const Recording recording(file_);
  EXPECT_EQ(recording.frame_count(), 20u);
  EXPECT_TRUE(recording.fibres().fibres.empty());
  EXPECT_TRUE(broken_in(recording.fibres(), 10).empty());
}

TEST_F(ChangedFibres, CausesThatDoNotExistAreRefused) {
  put_first("/bonds/broken_how", 5.0);
  expect_refused("the cause of a broken fibre is unknown; the file is damaged");
}

TEST_F(ChangedFibres, TablesOfAnotherSizeAreRefused) {
  for (const char* path :
       {"/bonds/organ", "/bonds/node", "/bonds/weight", "/bonds/point", "/bonds/length", "/bonds/group"}) {
    set_rows({path}, 63);
    expect_refused("the tables of its fibres have different numbers of rows; the file is damaged");
  }
  set_rows({"/bonds/organ", "/bonds/node", "/bonds/weight", "/bonds/point", "/bonds/length", "/bonds/group"}, 4);
  expect_refused("more fibres are broken than it has; the file is damaged");
  set_rows({"/bonds/broken_frame"}, 64);
  expect_refused("contains no complete frame");
  set_rows({"/bonds/node"}, hsize_t{1} << 40);
  expect_refused(
      "table /bonds/node claims more rows than its file can hold; the file is damaged, or not a Trocar recording");
  change([](hid_t file) { H5Ldelete(file, "/bonds/weight", H5P_DEFAULT); });
  expect_refused("has no /bonds/weight; the file is damaged, or not a Trocar recording");
  change([](hid_t file) {
    H5Ldelete(file, "/bonds/length", H5P_DEFAULT);
    H5Lcreate_hard(file, "/bonds/point", file, "/bonds/length", H5P_DEFAULT, H5P_DEFAULT);
  });
  expect_refused("table /bonds/length has rows of another shape; the file is not a Trocar recording");
}

TEST_F(ChangedFibres, EndsStayInTheirOrgans) {
  put_first("/bonds/organ", 2.0);
  expect_refused("an end of fibre 0 is not in an organ; the file is damaged");
  put_first("/bonds/node", 50.0);
  expect_refused("an end of fibre 0 is not in an organ; the file is damaged");
  put_first("/bonds/weight", std::numeric_limits<double>::infinity());
  expect_refused("an end of fibre 0 is not in an organ; the file is damaged");
  put_first("/bonds/length", -1.0);
  expect_refused("the length of fibre 0 is not a length; the file is damaged");
}

TEST_F(ChangedFibres, AFibreBreaksOnceAndInAscendingOrder) {
  put_first("/bonds/broken_fibre", 64.0);
  expect_refused("fibre 64 breaks twice or does not exist; the file is damaged");
  put_first("/bonds/broken_fibre", 2.0);
  expect_refused("fibre 2 breaks twice or does not exist; the file is damaged");
  put_first("/bonds/broken_frame", 7.0);
  expect_refused("the frames of its broken fibres are not in ascending order; the file is damaged");
}

// The frames before the first one that needs a missing row are complete. Rows of frames that are not complete are not
// read.
TEST_F(ChangedFibres, FramesEndBeforeAMissingRow) {
  set_rows({"/bonds/broken_fibre"}, 3);
  const Recording recording(file_);
  EXPECT_EQ(recording.frame_count(), 10u);
  EXPECT_EQ(recording.fibres().broken.size(), 3u);
  test::expect_frames(recording);
  set_rows({"/session/time"}, 6);
  const Recording shorter(file_);
  EXPECT_EQ(shorter.frame_count(), 6u);
  EXPECT_EQ(shorter.fibres().broken.size(), 3u);
}

TEST_F(ChangedFibres, MoreFibresThanAReaderAcceptsAreNotRecorded) {
  script_.header.fibres.resize(kMostFibres + 1);
  try {
    Recorder recorder(file_, script_.header);
    ADD_FAILURE() << "was recorded";
  } catch (const InputError& error) {
    EXPECT_EQ(
        std::string(error.what()),
        file_.string() + ": the scene has 1048577 fibres, and a recording at most 1048576; make its layers smaller");
  }
  EXPECT_FALSE(std::filesystem::exists(file_));
}

}  // namespace

// Tests clips in recordings: clips and the state of ducts are those of the session in every frame, also after recover
// and for recordings that begin later; damaged tables are refused with one sentence.

namespace {

struct SeenClips {
  explicit SeenClips(const Observation& seen)
      : clips(seen.clips.begin(), seen.clips.end()), tubes(seen.tubes.begin(), seen.tubes.end()) {}

  std::vector<PlacedClip> clips;
  std::vector<TubeState> tubes;
};

void expect_same(const PlacedClip& recorded, const PlacedClip& live) {
  EXPECT_EQ(recorded.on(), live.on());
  EXPECT_EQ(recorded.clip.organ, live.clip.organ);
  EXPECT_EQ(recorded.tool, live.tool);
  EXPECT_EQ(recorded.length, live.length);
  EXPECT_EQ(recorded.along, live.along);
  EXPECT_EQ(recorded.closed, live.closed);
}

void expect_same(const SeenClips& recorded, const SeenClips& live) {
  ASSERT_EQ(recorded.tubes, live.tubes);
  ASSERT_EQ(recorded.clips.size(), live.clips.size());
  for (std::size_t k = 0; k < live.clips.size(); ++k) expect_same(recorded.clips[k], live.clips[k]);
}

class RecordedClips : public test::RecordedDuct<SeenClips> {
 protected:
  // Closes two clips, cuts between them and drops a third clip. Records from the start, or from the frame on in which
  // the first clip has closed. `holds`: ClipParams, N.
  void record(bool from_start, const char* holds) {
    start(with("holds_n = 8", holds));
    if (from_start) begin_recording();
    run(10);
    clip(0.015);
    if (!from_start) begin_recording();
    clip(0.036);
    cut(0.026);
    grip(0, 0.0);
    grip(0, 1.0);
    end_recording();
  }
};

TEST_F(RecordedClips, AreThoseOfTheSessionInEveryFrame) {
  record(true, "holds_n = 8");
  const SeenClips& last = seen_.back();
  ASSERT_EQ(last.clips.size(), 3u);
  std::printf("%zu frames; clips on at the end: %d %d %d; divided %d, clips %u and %u\n", seen_.size(),
              last.clips[0].on(), last.clips[1].on(), last.clips[2].on(), last.tubes[0].divided,
              last.tubes[0].clips_at_start, last.tubes[0].clips_at_end);
  EXPECT_TRUE(last.tubes[0].divided);
  EXPECT_EQ(last.clips[2].clip.organ, kNoOrgan);
  expect_all(file_);
}

TEST_F(RecordedClips, ComeOffInTheSameFrame) {
  record(true, "holds_n = 1");
  EXPECT_FALSE(seen_.back().clips[0].on());
  expect_all(file_);
}

TEST_F(RecordedClips, BeginWithTheClipsSoFar) {
  record(false, "holds_n = 8");
  EXPECT_EQ(seen_.front().clips.size(), 1u);
  expect_all(file_);
}

// A file that was damaged on purpose is refused with one sentence.
TEST_F(RecordedClips, DamageIsRefused) {
  record(false, "holds_n = 8");
  expect_refused("/clips/vertices", 0, 7, "clip 0 is not on an organ");
  expect_refused("/clips/vertices", 2, kMostStruts + 1, "clip 0 is not on an organ");
  expect_refused("/clips/vertices", 3, 1000000, "clip 0 is not on an organ");
  expect_refused("/clips/frame", 0, 100000, "not in ascending order");
  expect_refused("/clips/tube_state", 0, 9, "duct or vessel 9 does not exist");
  expect_refused("/clips/tube_frame", 0, 100000, "not in ascending order");
}

}  // namespace

// Tests bleeding in recordings: losses and sources are those of the session in every frame, also after recover and for
// recordings that begin later; damaged tables are refused with one sentence.

namespace {

struct SeenBleeding {
  explicit SeenBleeding(const Observation& seen)
      : sources(seen.bleeding.sources.begin(), seen.bleeding.sources.end()),
        lost(seen.bleeding.lost.begin(), seen.bleeding.lost.end()) {}

  std::vector<BleedSource> sources;
  std::vector<FluidLoss> lost;
};

void expect_same(const BleedSource& recorded, const BleedSource& live) {
  EXPECT_EQ(recorded.organ, live.organ);
  EXPECT_EQ(recorded.vertex, live.vertex);
  EXPECT_EQ(recorded.kind, live.kind);
  EXPECT_EQ(recorded.state, live.state);
  EXPECT_EQ(recorded.rate, live.rate);
  EXPECT_EQ(recorded.half_time, live.half_time);
}

void expect_same(const SeenBleeding& recorded, const SeenBleeding& live) {
  ASSERT_EQ(recorded.lost, live.lost);
  ASSERT_EQ(recorded.sources.size(), live.sources.size());
  for (std::size_t k = 0; k < live.sources.size(); ++k) expect_same(recorded.sources[k], live.sources[k]);
}

class RecordedBleeding : public test::RecordedDuct<SeenBleeding> {
 protected:
  // Divides a vessel without a clip, then closes a clip. Records from the start, or from the division on.
  void record(bool from_start) {
    start(test::with_vessel(test::duct_scene()));
    if (from_start) begin_recording();
    run(10);
    cut(0.030);
    if (!from_start) begin_recording();
    clip(0.012);
  }
};

TEST_F(RecordedBleeding, IsThatOfTheSessionInEveryFrame) {
  record(true);
  end_recording();
  const SeenBleeding& last = seen_.back();
  ASSERT_EQ(last.sources.size(), 1u);
  std::printf("%zu frames, %.3f ml lost\n", seen_.size(), last.lost[0].blood / kMillilitre);
  EXPECT_GT(last.lost[0].blood, 0.0);
  EXPECT_EQ(last.sources[0].state, BleedState::Closed);
  expect_all(file_);
}

TEST_F(RecordedBleeding, BeginsWithTheSourcesSoFar) {
  record(false);
  end_recording();
  ASSERT_EQ(seen_.front().sources.size(), 1u);
  EXPECT_GT(seen_.front().lost[0].blood, 0.0);
  expect_all(file_);
}

// A copy of the file that is still being written is what a kill would have left.
TEST_F(RecordedBleeding, IsRecovered) {
  record(true);
  const std::filesystem::path copy = folder_.path() / "killed.h5";
  std::this_thread::sleep_for(std::chrono::seconds(1));
  std::filesystem::copy_file(file_, copy);
  end_recording();
  const RecoverResult result = recover_recording(copy);
  EXPECT_FALSE(result.was_clean);
  EXPECT_EQ(result.frames, seen_.size());
  expect_all(copy);
}

TEST_F(RecordedBleeding, DamageIsRefused) {
  record(false);
  end_recording();
  expect_refused("/bleeding/source", 0, 7, "source 0 of its bleeding is not on an organ");
  expect_refused("/bleeding/source", 1, 1000000, "source 0 of its bleeding is not on an organ");
  expect_refused("/bleeding/source", 2, 9, "source 0 of its bleeding is not on an organ");
  expect_refused("/bleeding/change", 0, 5, "source 5 of its bleeding changes before it opens or does not exist");
  expect_refused("/bleeding/change", 2, 77, "changes before it opens or does not exist");
  expect_refused("/bleeding/change_frame", 0, 100000, "not in ascending order");
}

}  // namespace

// Tests that a recording shows the fluid of its session.

namespace {

using test::FluidOnADuct;

// The recording holds the amounts bit for bit; its picture is recomputed and only similar.
TEST_F(FluidOnADuct, IsShownFromARecording) {
  start(bleeding());
  const std::filesystem::path file = folder_.path() / "s.h5";
  std::vector<FluidAmounts> seen;
  std::vector<double> areas;
  int spurts = 0, shown = 0;  // frames with a jet
  {
    SessionRecorder recorder(recording_file(file), scene_, *session_, "none");
    after_frame_ = [&](std::uint64_t frame) {
      recorder.append(*session_, double(frame) * kFrame);
      seen.push_back(amounts()), areas.push_back(session_->film().blood_area());
      spurts += static_cast<int>(session_->film().spurts().size());
    };
    run(10);
    cut(0.026);
    run(120);
    pump(Diathermy::Cut, 30);
    recorder.close();
    after_frame_ = nullptr;
  }
  const Recording recording(file);
  ASSERT_EQ(recording.bleeding().fluids.size(), seen.size());
  RecordedOrganFrames organ(recording, 0);
  RecordedFilm film(recording, scene_);
  for (std::size_t frame = 0; frame < seen.size(); ++frame) {
    EXPECT_EQ(recording.bleeding().fluids[frame], seen[frame]) << "frame " << frame;
    const bool reshaped = organ.load(frame);
    const FilmedOrgan filmed{organ.mesh(), organ.surface().at_rest(), reshaped};
    film.load(frame, std::span(&filmed, 1));
    shown += static_cast<int>(film.spurts().size());
    for (const Spurt& spurt : film.spurts()) EXPECT_NEAR(glm::length(spurt.towards), 1.f, 1e-5f);
  }
  EXPECT_GT(spurts, 60);
  EXPECT_NEAR(shown, spurts, 1) << "frames of a replay show the sources at their start";
  EXPECT_EQ(film.dripped(seen.size() - 1), seen.back().dripped[0]);
  std::printf("%.2f cm^2 red in the session, %.2f cm^2 in the replay\n", 1e4 * areas.back(), 1e4 * film.blood_area());
  EXPECT_NEAR(film.blood_area(), areas.back(), 0.15 * areas.back());
  RecordedFilm jumped(recording, scene_);
  const FilmedOrgan filmed{organ.mesh(), organ.surface().at_rest(), true};
  jumped.load(seen.size() - 1, std::span(&filmed, 1));
  EXPECT_GT(jumped.blood_area(), 0.3 * areas.back());
}

}  // namespace

// Tests the backends while hooks burn tissue in a session: they agree throughout, also in OpenGL, and faces keep their
// ids.

namespace {

using test::FaceBook, test::TissueScene;

TEST_F(TissueScene, BackendsAgreeWhileTheHookBurns) {
  Session session(scene(instrument("hook", "burn")), backends_, "scan", {{"obb-refit", 1}, {"obb", 1}}, script);
  const Organ& ball = session.organs()[0];
  FaceBook book(ball);
  const std::vector<glm::vec3> rest = ball.mesh.positions;
  std::uint32_t changes = 0;
  std::uint64_t touched = 0;
  for (std::size_t frame = 0; frame < 120; ++frame) {
    step(session, frame);
    book.check(ball);
    ASSERT_EQ(session.disagreements(), 0u) << "frame " << frame;
    EXPECT_EQ(ball.change.empty(), ball.topology == changes);
    if (session.instruments()[0].energy == Diathermy::Off) {
      EXPECT_TRUE(ball.change.empty());
    }
    changes = ball.topology;
    touched += session.touched();
  }
  EXPECT_GT(changes, 5u);
  EXPECT_GT(touched, 50u);
  EXPECT_GT(book.count_removed(), 20u);
  EXPECT_EQ(book.size(), ball.damage.marks.size());
  for (std::size_t id = 0; id < book.size(); ++id)
    EXPECT_EQ((ball.damage.marks[id] & kBurnt) != 0, book.removed(id)) << id;
  EXPECT_TRUE(std::equal(rest.begin(), rest.end(), ball.mesh.positions.begin()));
  const DamageReading reading = reading_of(ball.damage);
  EXPECT_EQ(reading.burnt, book.count_removed());
  EXPECT_EQ(reading.torn, 0u);
  EXPECT_EQ(reading.peak, *std::max_element(ball.damage.peak.begin(), ball.damage.peak.end()));
  EXPECT_NO_THROW(closed_volume(ball.mesh.view()));
  std::printf("%u changes, %zu of %zu faces burnt, %llu touched\n", changes, book.count_removed(), book.size(),
              static_cast<unsigned long long>(touched));
}

// Two hooks burn the same ball and scissors cut it: in some frames faces of the first change are removed by the second.
// The query then answers like a new object.
TEST_F(TissueScene, TheQueryFollowsSeveralChangesInAFrame) {
  std::string second = instrument("hook", "burn");
  second.replace(second.find("\"burn\""), 6, "\"second\"");
  second.replace(second.find("[0, 0, 39]"), 10, "[3, 1, 39]");
  std::vector<CheckPlan> checks{{"obb-refit", 1}};
  Backends backends;
  if (backends.context()) checks.push_back({"compute", 1});
  Session session(scene(instrument("hook", "burn") + second + instrument("scissors", "pull")), backends, "scan", checks,
                  script);
  const Organ& ball = session.organs()[0];
  std::size_t twice = 0, passing = 0;
  for (std::size_t frame = 0; frame < 110; ++frame) {
    step(session, frame);
    ASSERT_EQ(session.disagreements(), 0u) << "frame " << frame;
    twice += ball.topology > ball.topology_before + 1;
    const std::size_t added = ball.change.new_faces.size();
    passing += ball.change.removed.size() > ball.removed_slots.size();
    if (added == 0) continue;
    const ToolStep step{{0.02, 0.02, 0.15}, {0.0, 0.0, 0.03}, {0.005, 0.0, 0.03}, 0.01};
    const ToolVolume volume = swept_volume(step, Cover::Capsule);
    const auto fresh = make_scan_query();
    fresh->rebuild({ball.positions, ball.mesh.faces});
    const TouchList expected = fresh->touched({&volume, 1}, TouchSet::Exact);
    const TouchList answer = ball.query->touched({&volume, 1}, TouchSet::Exact);
    ASSERT_TRUE(std::equal(
        answer.touches.begin(), answer.touches.end(), expected.touches.begin(), expected.touches.end(),
        [](const Touch& a, const Touch& b) { return a.face == b.face && a.point == b.point && a.depth == b.depth; }))
        << "frame " << frame;
  }
  EXPECT_GT(twice, 0u);
  EXPECT_GT(passing, 0u);
  std::printf("%zu frames with two changes, %zu in which faces came and went\n", twice, passing);
}

}  // namespace

}  // namespace trocar::recorded_tissue_test
