// Tests a station of the lab: attempts wait while the server is down, a killed program's attempt is scored from its
// recording, settings are private, and damaged files do not hold up the others.
#include "app/lab/lab_station.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "app/compare/backends.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/loop/session_loop.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/review/score_recording.hpp"
#include "tests/app/postgres_server.hpp"
#include "tests/app/recorded_attempt.hpp"
#include "tests/sim/task_support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

class LabStationTest : public ::testing::Test {
 protected:
  LabPlaces places() const {
    return {folder_.path() / "data/lab.sqlite", folder_.path() / "data/waiting", folder_.path() / "config/lab.toml"};
  }
  static LabAttempt attempt(const std::string& person) {
    LabAttempt attempt;
    attempt.key = new_attempt_key();
    attempt.person = person, attempt.scene = "burn_line", attempt.started = 100.0, attempt.score = 50.0;
    return attempt;
  }

  TemporaryFolder folder_;
};

TEST_F(LabStationTest, AttemptsWaitWhileTheServerIsDown) {
  if (!test::PostgresServer::available())
    GTEST_SKIP() << "PostgreSQL 15 is not installed, or root has no user postgres to run it";
  auto& server = test::PostgresServer::shared();
  const std::string name = "station_" + std::to_string(getpid());
  server.make_database(name);
  LabStation station(places());
  station.choose(server.address(name));
  server.stop();
  station.keep(attempt("a"));
  station.keep(attempt("b"));
  const HandedIn gone = LabStation(places()).hand_in();  // a later program of the same station
  EXPECT_EQ(gone.added, 0u);
  EXPECT_EQ(gone.waiting, 2u);
  EXPECT_NE(gone.why.find("does not answer"), std::string::npos) << gone.why;
  server.start();
  const HandedIn back = LabStation(places()).hand_in();
  EXPECT_EQ(back.added, 2u);
  EXPECT_EQ(back.waiting, 0u);
  EXPECT_EQ(back.why, "");
  EXPECT_EQ(station.open_to_read().counts().attempts, 2u);
  EXPECT_EQ(station.hand_in().added, 0u);
}

TEST_F(LabStationTest, TheDatabaseIsMadeAtItsFirstUse) {
  const LabStation station(places());
  EXPECT_FALSE(std::filesystem::exists(places().database));
  EXPECT_EQ(station.hand_in().added, 0u);
  station.keep(attempt("a"));
  EXPECT_EQ(station.hand_in().added, 1u);
  EXPECT_TRUE(std::filesystem::exists(places().database));
  EXPECT_EQ(station.waiting(), 0u);
}

// As a full disk, a limit of the size of files lets every write beyond it fail.
TEST_F(LabStationTest, AFullDiskLosesNoAttempt) {
  constexpr std::size_t kAttempts = 150;
  const LabStation station(places());
  station.keep(attempt("a"));
  ASSERT_EQ(station.hand_in().added, 1u);
  for (std::size_t k = 0; k < kAttempts; ++k) {
    LabAttempt long_one = attempt("a");
    long_one.recording = std::string(900, 'r');
    station.keep(long_one);
  }
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = std::filesystem::file_size(places().database) + 32768;
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const HandedIn full = station.hand_in_kept();
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_GT(full.waiting, 0u);
  EXPECT_EQ(full.added + full.waiting, kAttempts);
  EXPECT_NE(full.why.find("lab.sqlite: cannot be written; is the disk full?"), std::string::npos) << full.why;
  EXPECT_EQ(station.open_to_read().counts().attempts, 1 + full.added) << "what the database took is there";
  const HandedIn after = station.hand_in_kept();
  EXPECT_EQ(after.added, full.waiting) << after.why;
  EXPECT_EQ(station.waiting(), 0u);
  EXPECT_EQ(station.open_to_read().counts().attempts, 1 + kAttempts);
  std::signal(SIGXFSZ, old_handler);
  std::printf("%zu attempts taken before the disk was full: %s\n", full.added, full.why.c_str());
}

TEST_F(LabStationTest, OnlyTheUserReadsTheSettings) {
  LabStation station(places());
  station.choose((folder_.path() / "other \"quoted\\.sqlite").string().substr(0, folder_.path().string().size() + 6));
  struct stat info {};
  ASSERT_EQ(stat(places().settings.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 077, 0u);
  EXPECT_EQ(LabStation(places()).address(), station.address());
  EXPECT_EQ(LabStation(places(), "elsewhere.sqlite").address(), "elsewhere.sqlite");
}

// Other threads make files while settings are written.
TEST_F(LabStationTest, ChoosingADatabaseKeepsTheUmask) {
  const mode_t before = umask(022);
  LabStation station(places());
  std::filesystem::create_directories(places().settings);  // cannot be written
  EXPECT_THROW(station.choose((folder_.path() / "x.sqlite").string()), std::runtime_error);
  EXPECT_EQ(umask(before), 022u);
}

TEST_F(LabStationTest, DamagedSettingsAreRefusedWithTheirLine) {
  std::filesystem::create_directories(places().settings.parent_path());
  folder_.write("config/lab.toml", "databse = \"x\"\n");
  EXPECT_THROW(LabStation{places()}, InputError);
}

TEST_F(LabStationTest, ADamagedFileDoesNotHoldUpTheOthers) {
  const LabStation station(places());
  station.keep(attempt("a"));
  folder_.write("data/waiting/0.attempt.json", "{");
  const HandedIn result = station.hand_in();
  EXPECT_EQ(result.added, 1u);
  EXPECT_EQ(result.waiting, 1u);
  EXPECT_NE(result.why.find("damaged"), std::string::npos) << result.why;
}

RunNote attempt_of_zoe(const std::string& key) { return {ScoreClock::Tick, Activity::Attempt, "Zoë", "", key}; }

TEST_F(LabStationTest, AKilledProgramsAttemptIsScoredFromItsRecording) {
  const auto file = folder_.path() / "s.h5";
  const Scene scene = test::coarse_scene("touch_targets", folder_);
  const LabStation station(places());
  const std::string key = new_attempt_key();
  station.note_begun(key, "Zoë", file);
  test::record_killed(scene, file, 60, attempt_of_zoe(key));
  const HandedIn result = station.hand_in();
  EXPECT_EQ(result.added, 1u) << result.why;
  const auto kept = station.open_to_read().attempts({.person = "Zoë"});
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].key, key);
  EXPECT_EQ(kept[0].ending, "unknown");
  EXPECT_TRUE(kept[0].score.has_value());
  EXPECT_EQ(kept[0].recording, file.string());
  EXPECT_EQ(station.hand_in().added, 0u);
  EXPECT_TRUE(std::filesystem::is_empty(places().waiting));
}

// A kill before the first frame was complete: the note is moved aside, and the attempt is named once.
TEST_F(LabStationTest, ARecordingWithoutAFrameIsGivenUp) {
  const auto file = folder_.path() / "s.h5";
  const Scene scene = test::coarse_scene("touch_targets", folder_);
  const LabStation station(places());
  const std::string key = new_attempt_key();
  test::record_killed(scene, file, 0, attempt_of_zoe(key));
  station.note_begun(key, "Zoë", file);
  const HandedIn result = station.hand_in();
  EXPECT_EQ(result.waiting, 0u) << result.why;
  ASSERT_EQ(result.given_up.size(), 1u);
  EXPECT_NE(result.given_up[0].find(file.string() + ": contains no complete frame"), std::string::npos)
      << result.given_up[0];
  EXPECT_TRUE(std::filesystem::exists(places().waiting / "given_up" / (key + ".begun.json")));
  EXPECT_TRUE(station.hand_in().given_up.empty());
  station.forget("Zoë");
  EXPECT_TRUE(std::filesystem::is_empty(places().waiting / "given_up"));
}

// The note outlives the attempt's own file, which a machine without power may lose.
TEST_F(LabStationTest, TheNoteStaysUntilTheDatabaseHasTheAttempt) {
  const auto file = folder_.path() / "s.h5";
  const Scene scene = test::coarse_scene("touch_targets", folder_);
  const LabStation away(places(), "postgresql://user@127.0.0.1:1/none");
  const std::string key = new_attempt_key();
  away.note_begun(key, "Zoë", file);
  test::record_attempt(scene, file, 20, true, attempt_of_zoe(key));
  EXPECT_EQ(away.hand_in().waiting, 1u);
  EXPECT_TRUE(away.waits(key));
  std::filesystem::remove(places().waiting / (key + ".attempt.json"));
  const LabStation station(places());
  EXPECT_EQ(station.hand_in().added, 1u);
  EXPECT_EQ(station.open_to_read().attempts().at(0).key, key);
  EXPECT_TRUE(std::filesystem::is_empty(places().waiting));
}

// A second window of the same station starts while the first has just begun to record.
TEST_F(LabStationTest, ARecordingThatHasJustBegunIsLeftAlone) {
  const auto file = folder_.path() / "s.h5";
  const Scene scene = test::coarse_scene("touch_targets", folder_);
  const LabStation station(places());
  Backends backends;
  PerformedSession performed(scene, style_of(Skill::Expert), 1, backends, "scan");
  {
    const std::string key = new_attempt_key();
    SessionRecorder recorder(recording_file(file), scene, performed.session(), "none", attempt_of_zoe(key));
    station.note_begun(key, "Zoë", file);
    EXPECT_EQ(station.hand_in().added, 0u);
    for (int frame = 0; frame < 20; ++frame) {
      performed.step();
      recorder.append(performed.session(), performed.time());
    }
    recorder.close();
  }
  EXPECT_EQ(station.hand_in().added, 1u);
}

TEST_F(LabStationTest, AFinishedAttemptHasTheScoreOfItsRecording) {
  const Scene scene = test::coarse_scene("touch_targets", folder_);
  const std::string key = new_attempt_key();
  const auto file = test::record_attempt(scene, folder_.path() / "s.h5", 30, true, attempt_of_zoe(key));
  const Recording recording(file);
  const Attempt score = score_recording(recording, file.string());
  const LabStation station(places());
  station.note_begun(key, "Zoë", file);
  station.keep(lab_attempt_of(recording, score));
  EXPECT_EQ(station.hand_in().added, 1u);  // once, although it was begun too
  const auto kept = station.open_to_read().attempts();
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].key, key);
  EXPECT_EQ(kept[0].score, score.task->score);
  EXPECT_EQ(kept[0].ending, "stopped");
  EXPECT_EQ(kept[0].devices, "mouse, mouse, mouse");
  EXPECT_EQ(kept[0].scene, scene.file.stem());
  EXPECT_GT(kept[0].started, 1.7e9);
}

}  // namespace
}  // namespace trocar
