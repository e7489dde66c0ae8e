// Tests recordings of burnt organs: every frame's surface is read back bit for bit, every backend gives the recorded
// answers, and the recording of a killed session is readable up to its last complete frame.
#include "app/replay/replay.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "app/compare/compare.hpp"
#include "geometry/error.hpp"
#include "sim/hdf5/complete_rows.hpp"
#include "sim/review/recorded_frames.hpp"
#include "sim/review/score_recording.hpp"
#include "tests/sim/session/burnt_session.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test.hpp"

namespace trocar {
namespace {

constexpr std::size_t kFrames = 150;
constexpr auto kIgnore = [](std::size_t) {};

bool same(const Touch& a, const Touch& b) {
  return a.face == b.face && a.point == b.point && a.normal == b.normal && a.depth == b.depth && a.time == b.time;
}

void expect_organ(const RecordedOrganFrames& recorded, const test::SurfaceShot& shot) {
  ASSERT_EQ(recorded.surface().ids, shot.ids);
  ASSERT_EQ(recorded.surface().faces, shot.faces);
  ASSERT_EQ(recorded.surface().rest, shot.rest);
  const auto positions = recorded.mesh().positions;
  ASSERT_TRUE(std::equal(positions.begin(), positions.end(), shot.positions.begin(), shot.positions.end()));
  ASSERT_TRUE(std::equal(recorded.frame().touches.begin(), recorded.frame().touches.end(), shot.touches.begin(),
                         shot.touches.end(), same));
  ASSERT_EQ(recorded.frame().first, shot.first);
  ASSERT_EQ(recorded.frame().pressure, shot.pressure);
}

// Runs the session again and compares it with its recording, which starts with frame `begin`.
void expect_session(const Recording& recording, std::size_t begin) {
  test::BurntSession session;
  for (std::size_t frame = 0; frame < begin; ++frame) session.step(nullptr);
  std::vector<RecordedOrganFrames> organs;
  for (std::size_t k = 0; k < recording.organs().size(); ++k) organs.emplace_back(recording, k);
  for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
    session.step(nullptr);
    for (std::size_t k = 0; k < organs.size(); ++k) {
      organs[k].load(frame);
      ASSERT_NO_FATAL_FAILURE(expect_organ(organs[k], session.shot(k))) << "organ " << k << ", frame " << frame;
      ASSERT_EQ(recording.energy(frame, k) != Diathermy::Off, session.energy(k));
    }
  }
}

void expect_replays(const Recording& recording) {
  Backends backends;
  for (const char* backend : {"scan", "obb", "obb-refit"}) {
    const ReplayResult result = replay(recording, backend, backends, kIgnore);
    EXPECT_EQ(result.differing_frames, 0u) << backend;
    EXPECT_GT(result.rebuilds, 5u);
    EXPECT_GT(result.touches, recording.frame_count());
  }
}

struct BurntRecording : testing::Test {
  TemporaryFolder folder;
  std::filesystem::path file = folder.path() / "s.h5";

  // Records the frames from `begin`, then closes the recording.
  void record(std::size_t begin, std::size_t frames) const {
    test::BurntSession session;
    for (std::size_t frame = 0; frame < begin; ++frame) session.step(nullptr);
    Recorder recorder(file, session.header());
    for (std::size_t frame = 0; frame < frames; ++frame) session.step(&recorder);
    recorder.close();
    const Sculpture& sculpture = *session.organ(0).sculpture;
    std::printf("frames %zu to %zu: %zu of all %u faces remain at the end, %zu vertices of %zu\n", begin,
                session.frame() - 1, sculpture.faces.size(), sculpture.faces.next_id, sculpture.rest.size(),
                session.organ(1).mesh.positions.size());
  }
};

TEST_F(BurntRecording, EveryFrameIsReadBack) {
  record(0, kFrames);
  const Recording recording(file);
  ASSERT_EQ(recording.frame_count(), kFrames);
  expect_session(recording, 0);
  expect_replays(recording);
  const SurfaceHistory& history = recording.organs()[0].history;
  EXPECT_GT(history.removed.size(), 500u);
  EXPECT_GT(history.carried.size(), 10u);
  EXPECT_TRUE(recording.organs()[1].history.removed.empty());
  for (const char* table : {"", " -d /organs/liver/gone_frame", " -d /organs/liver/carried_weight"})
    EXPECT_EQ(std::system(("h5dump -A" + std::string(table) + " " + file.string() + " >/dev/null").c_str()), 0);
}

TEST_F(BurntRecording, MayBeginInTheMiddleOfASession) {
  record(60, 90);
  const Recording recording(file);
  ASSERT_EQ(recording.frame_count(), 90u);
  ASSERT_TRUE(recording.pose_before(0, 1).has_value());
  expect_session(recording, 60);
  expect_replays(recording);
}

TEST_F(BurntRecording, BackendsAgreeOnIt) {
  record(0, kFrames);
  Backends backends;
  const auto source = make_recording_source(file);
  const CompareReport report = compare_backends(*source, {"scan", "obb-refit"}, backends, kIgnore);
  EXPECT_EQ(report.disagreements(), 0u);
  const std::size_t touches = replay(Recording(file), "scan", backends, kIgnore).touches;
  for (const BackendResult& result : report.backends) EXPECT_EQ(result.touched, touches) << result.name;
}

// Tests that replay detects one wrong face in one frame.
TEST_F(BurntRecording, ReplayNoticesADifferentAnswer) {
  {
    test::BurntSession session;
    const auto header = session.header();
    Recorder recorder(file, header);
    const std::vector<Touch> touch(1);
    const std::vector<std::uint32_t> first = {0, 1, 1};
    const ToolPose away{{1, 1, 1}, {1, 1, 2}, 0.0025};
    const std::vector<ToolPose> poses = {away, away};
    const std::vector<glm::vec3> nodes[] = {header.organs[0].tissue->rest, header.organs[1].tissue->rest};
    const RecordedOrganFrame organs[] = {{nodes[0], {touch, first}}, {nodes[1], {touch, first}}};
    const glm::dvec2 roll_grip[2] = {};
    const glm::vec3 forces[2] = {};
    const float stage_ms[] = {0.f};
    recorder.append({0.0, poses, roll_grip, organs, forces, stage_ms});
    recorder.close();
  }
  Backends backends;
  EXPECT_EQ(replay(Recording(file), "scan", backends, kIgnore).differing_frames, 1u);
}

// Copies a recording with only the first `rows` rows of one table.
void cut_short(const std::filesystem::path& whole, const std::filesystem::path& part, const std::string& table,
               std::uint64_t rows) {
  const H5File from = H5File::open(whole);
  std::filesystem::remove(part);
  H5File to = H5File::create(part);
  for (const auto& [name, ignored] : text_attributes()) to.set_text(name, from.text(name));
  to.make_group("/session");
  to.make_group(kOrganGroup);
  for (const auto& organ : from.groups_in(kOrganGroup)) to.make_group(std::string(kOrganGroup) + "/" + organ);
  for (const std::string& path : from.paths()) {
    if (from.is_group(path)) continue;
    const H5Table source = from.table(path);
    const std::uint64_t count = path == table ? std::min(rows, source.rows()) : source.rows();
    std::vector<std::byte> memory(count * source.row_bytes());
    source.read(0, memory);
    to.make_table(path, source.cell(), source.row_shape(), 64).append(memory);
  }
}

// Simulates a kill between any two tables; the complete frames must be correct.
TEST_F(BurntRecording, ACutTableKeepsTheCompleteFrames) {
  const unsigned seed = 20261122;
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  record(0, kFrames);
  const auto part = folder.path() / "part.h5";
  std::size_t shortened = 0, refused = 0;
  for (std::size_t k = 0; k < columns_of(ColumnGroup::Organ).size(); ++k) {
    const Column& kind = columns_of(ColumnGroup::Organ)[k];
    // The frame of a row is written after its other cells; no tip touches anything.
    if (kind.effect || kind.rows == RowOf::TipFace || !kind.is_in(RecordingForm::Full)) continue;
    const std::string path = path_of(ColumnGroup::Organ, k, "liver");
    const std::uint64_t rows = H5File::open(file).table(path).rows();
    ASSERT_GT(rows, 0u) << path;
    cut_short(file, part, path, random() % rows);
    try {
      const Recording recording(part);
      ASSERT_LE(recording.frame_count(), kFrames);
      shortened += recording.frame_count() < kFrames;
      ASSERT_NO_FATAL_FAILURE(expect_session(recording, 0)) << path;
    } catch (const InputError& error) {
      ASSERT_NE(std::string(error.what()).find("contains no complete frame"), std::string::npos) << error.what();
      ++refused;
    }
  }
  std::printf("%zu cut to fewer frames, %zu without a frame\n", shortened, refused);
  EXPECT_GT(shortened, 8u);
}

// Runs the session in another process and kills it `life` after its first frame.
void record_until_killed(const std::filesystem::path& file, std::chrono::milliseconds life) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    test::BurntSession session;
    Recorder recorder(file, session.header());
    for (;;) {
      session.step(&recorder);
      if (session.frame() == 1 && write(ends[1], "1", 1) != 1) _exit(1);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  close(ends[1]);
  char ready = 0;
  EXPECT_EQ(read(ends[0], &ready, 1), 1);
  close(ends[0]);
  std::this_thread::sleep_for(life);
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

TEST_F(BurntRecording, AKilledSessionIsRecoveredWithItsSurfaces) {
  const unsigned seed = 20261123;
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 5; ++round) {
    ASSERT_NO_FATAL_FAILURE(record_until_killed(file, std::chrono::milliseconds(1000 + random() % 700)));
    const RecoverResult result = recover_recording(file);
    EXPECT_FALSE(result.was_clean);
    const Recording recording(file);
    EXPECT_TRUE(recording.clean());
    ASSERT_EQ(recording.frame_count(), result.frames);
    std::printf("recovered %zu frames, %zu faces removed\n", result.frames,
                recording.organs()[0].history.removed.size());
    ASSERT_NO_FATAL_FAILURE(expect_session(recording, 0));
    if (round == 0) expect_replays(recording);
  }
}

// The shapes of the tips belong to the model; the touches of the shafts and the score do not.
TEST_F(BurntRecording, OfAnotherModelIsReplayedWithoutTips) {
  {
    test::BurntSession session;
    RecordingHeader header = session.header();
    header.model_version = kModelVersion + 1, header.version = "9.1.0";
    Recorder recorder(file, header);
    for (std::size_t frame = 0; frame < 20; ++frame) session.step(&recorder);
    recorder.close();
  }
  Backends backends;
  const Recording recording(file);
  const ReplayResult result = replay(recording, "scan", backends, kIgnore);
  EXPECT_EQ(result.differing_frames, 0u);
  EXPECT_EQ(result.tip_touches, 0u);
  EXPECT_EQ(result.not_replayed, "the touches of the tips are not replayed: the recording has model version " +
                                     std::to_string(kModelVersion + 1) + " and this program " +
                                     std::to_string(kModelVersion) +
                                     "; to replay them, use the version that recorded it (9.1.0)");
  EXPECT_EQ(score_recording(recording, "s.h5").frames, 20u);
}

}  // namespace
}  // namespace trocar
