// Tests a station of the lab, which recordings stay there, and trocar lab as a user runs it.
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "app/compare/backends.hpp"
#include "app/lab/lab_station.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/hdf5/recording_bytes.hpp"
#include "sim/loop/session_loop.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/support/process.hpp"
#include "tests/app/ball_task.hpp"
#include "tests/app/lab_support.hpp"
#include "tests/app/run_program.hpp"
#include "tests/sim/recording/recorded_script.hpp"
#include "tests/sim/task/task_support.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test.hpp"

namespace trocar {
namespace {

// Tests a station of the lab: attempts wait while the server is down, a killed program's attempt is scored from its
// recording, settings are private, and damaged files do not hold up the others.

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

// Another window writes it and has no complete frame yet.
TEST_F(LabStationTest, ARecordingThatIsBeingWrittenIsLeftAlone) {
  const auto file = folder_.path() / "s.h5";
  const std::string key = new_attempt_key();
  test::Script script;
  script.header.run = attempt_of_zoe(key);
  Recorder recorder(file, script.header);
  const LabStation station(places());
  station.note_begun(key, "Zoë", file);
  const HandedIn result = station.hand_in();
  EXPECT_EQ(result.why, "");
  EXPECT_EQ(result.waiting, 0u);
  EXPECT_TRUE(result.given_up.empty());
  EXPECT_TRUE(std::filesystem::exists(places().waiting / (key + ".begun.json")));
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

// Tests which recordings stay at a station: passes and the last attempts of each person at each level of a task; only
// files that surely are recordings of that person on this machine are removed; without a rule nothing is.

namespace fs = std::filesystem;

constexpr const char* kCourse =
    "schema = 1\ntitle = \"T\"\nsources = [\"s\"]\n"
    "[[step]]\nname = \"a\"\ntitle = \"First\"\nscene = \"x.toml\"\nleast_score = 80\n";

class LabRetention : public ::testing::Test {
 protected:
  LabPlaces places() const {
    return {folder_.path() / "data/trocar/lab.sqlite", folder_.path() / "data/trocar/waiting",
            folder_.path() / "config/trocar/lab.toml"};
  }
  static LabAttempt attempt(const std::string& person, double started, double score) {
    LabAttempt a;
    a.key = new_attempt_key();
    a.person = person, a.scene = "x", a.started = started, a.score = score, a.ending = "done", a.station = host_name();
    return a;
  }
  // A recording of that person in the folder, of the attempt with this key.
  fs::path record(const std::string& name, const std::string& person, const std::string& key) const {
    test::Script script;
    script.header.run.activity = Activity::Attempt, script.header.run.person = person;
    script.header.run.attempt_key = key, script.header.scene_name = "x";
    const fs::path file = folder_.path() / name;
    Recorder recorder(file, script.header);
    for (std::uint32_t frame = 0; frame < 3; ++frame) script.append(recorder, frame);
    recorder.close();
    return file;
  }
  LabAttempt recorded(const std::string& name, const std::string& person, double started, double score) const {
    LabAttempt a = attempt(person, started, score);
    a.recording = record(name, person, a.key).string();
    return a;
  }
  int trocar(const std::string& arguments) const {
    const std::string at = folder_.path().string();
    return WEXITSTATUS(std::system(("XDG_DATA_HOME=" + at + "/data XDG_CONFIG_HOME=" + at + "/config " +
                                    TROCAR_PROGRAM + " lab tidy --curriculum " + (folder_.path() / "c.toml").string() +
                                    " " + arguments + " >" + at + "/stdout 2>" + at + "/stderr")
                                       .c_str()));
  }
  std::string printed() const { return read_file(folder_.path() / "stdout") + read_file(folder_.path() / "stderr"); }

  TemporaryFolder folder_;
  Curriculum course_ = parse_curriculum(kCourse, "c.toml");
};

TEST_F(LabRetention, WithoutARuleEverythingStays) {
  EXPECT_TRUE(superfluous({attempt("zoe", 1, 0), attempt("zoe", 2, 0)}, course_, {}).empty());
  EXPECT_TRUE(superfluous({}, course_, {1}).empty());
  EXPECT_FALSE(read_retention(places()).last.has_value());
}

TEST_F(LabRetention, TheRuleIsKeptAndCanBeTakenBack) {
  write_retention(places(), {12});
  EXPECT_EQ(read_retention(places()).last, 12);
  write_retention(places(), {});
  EXPECT_FALSE(read_retention(places()).last.has_value());
  folder_.write("config/trocar/recordings.toml", "keep_lsat = 3\n");
  EXPECT_THROW(read_retention(places()), InputError);
}

// Against a slow definition, with equal dates and equal recordings among them.
TEST_F(LabRetention, PassesAndTheLastOfEachLevelStay) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<LabAttempt> attempts;
    for (unsigned k = random() % 12; k > 0; --k) {
      LabAttempt a = attempt("zoe", static_cast<double>(random() % 8), 60.0 + 10.0 * static_cast<double>(random() % 4));
      a.level = 1 + static_cast<int>(random() % 2), a.scene = random() % 3 == 0 ? "y" : "x";
      a.ending = random() % 3 == 0 ? "not done" : "done", a.critical = random() % 5 == 0;
      a.recording = "r" + std::to_string(random() % 20);
      attempts.push_back(a);
    }
    const int last = 1 + static_cast<int>(random() % 3);
    std::set<std::string> kept;
    for (const LabAttempt& a : attempts) {
      const auto newer = std::ranges::count_if(attempts, [&](const LabAttempt& b) {
        return b.scene == a.scene && b.level == a.level &&
               (b.started > a.started || (b.started == a.started && b.key > a.key));
      });
      const bool in_course = a.scene == "x" && a.level == 1;
      const bool pass = a.ending == "done" && !a.critical && (!in_course || *a.score >= 80.0);
      EXPECT_EQ(is_pass(a, course_), pass);
      if (pass || newer < last) kept.insert(a.recording);
    }
    std::set<std::string> expected, found;
    for (const LabAttempt& a : attempts)
      if (!kept.contains(a.recording)) expected.insert(a.recording);
    for (const LabAttempt& a : superfluous(attempts, course_, {last})) found.insert(a.recording);
    EXPECT_EQ(found, expected) << round;
  }
}

TEST_F(LabRetention, OnlyRecordingsOfThatPersonOnThisMachineAreRemoved) {
  fs::create_directories(places().database.parent_path());
  LabDatabase lab(places().database.string());
  std::vector<LabAttempt> old;
  const auto add = [&](const std::string& file, const char* station = nullptr) {
    LabAttempt a = attempt("zoe", static_cast<double>(old.size()), 10.0);
    a.recording = file;
    if (station) a.station = station;
    old.push_back(a);
    lab.add_attempt(a);
  };
  const auto add_recorded = [&](const std::string& name, const std::string& person, const char* station = nullptr,
                                bool same_key = true) {
    LabAttempt a = attempt("zoe", static_cast<double>(old.size()), 10.0);
    a.recording = record(name, person, same_key ? a.key : new_attempt_key()).string();
    if (station) a.station = station;
    old.push_back(a);
    lab.add_attempt(a);
  };
  add_recorded("mine.h5", "zoe");
  add_recorded("elsewhere.h5", "zoe", "another machine");
  add_recorded("eves.h5", "eve");
  add_recorded("another.h5", "zoe", nullptr, false);
  add(folder_.write("thesis.txt", "text"));
  fs::create_directory(folder_.path() / "folder");
  add(folder_.path() / "folder");
  record("target.h5", "zoe", "");
  fs::create_symlink(folder_.path() / "target.h5", folder_.path() / "link.h5");
  add(folder_.path() / "link.h5");
  add(folder_.path() / "gone.h5");
  add("relative.h5");
  add_recorded("in_use.h5", "zoe");
  lab.add_attempt(attempt("zoe", 100.0, 10.0));  // the last one
  const RecordingLock lock(folder_.path() / "in_use.h5");
  const auto found = removable_recordings(lab, course_, {1});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().file, folder_.path() / "mine.h5");
  EXPECT_EQ(found.front().bytes, fs::file_size(folder_.path() / "mine.h5"));
  EXPECT_TRUE(remove_recording(found.front()));
  EXPECT_FALSE(fs::exists(folder_.path() / "mine.h5"));
  // Another recording has the name by now.
  auto replaced = found.front();
  record("mine.h5", "eve", replaced.attempt.key);
  EXPECT_FALSE(remove_recording(replaced));
  EXPECT_TRUE(fs::exists(folder_.path() / "mine.h5"));
}

TEST_F(LabRetention, TheCommandSaysWhatItRemovesBeforeItDoes) {
  folder_.write("c.toml", kCourse);
  fs::copy_file(test::write_ball_task(folder_), folder_.path() / "x.toml");
  fs::create_directories(places().database.parent_path());
  {
    LabDatabase lab(places().database.string());
    for (const auto& a : {recorded("oldest.h5", "zoe", 1, 20), recorded("passed.h5", "zoe", 2, 90),
                          recorded("last.h5", "zoe", 3, 30), recorded("eve.h5", "eve", 1, 10)})
      lab.add_attempt(a);
  }
  const auto there = [&](const char* name) { return fs::exists(folder_.path() / name); };
  EXPECT_EQ(trocar("--remove"), 0) << printed();
  EXPECT_NE(printed().find("every recording stays"), std::string::npos) << printed();
  EXPECT_TRUE(there("oldest.h5"));
  EXPECT_EQ(trocar("--keep 1"), 0) << printed();
  EXPECT_NE(printed().find("passes and the last 1 attempts of each person"), std::string::npos) << printed();
  EXPECT_NE(printed().find("oldest.h5"), std::string::npos) << printed();
  EXPECT_NE(printed().find("1 recordings, "), std::string::npos) << printed();
  EXPECT_TRUE(there("oldest.h5"));
  EXPECT_EQ(trocar("--remove"), 0) << printed();
  EXPECT_NE(printed().find("1 recordings removed"), std::string::npos) << printed();
  EXPECT_FALSE(there("oldest.h5"));
  EXPECT_TRUE(there("passed.h5") && there("last.h5") && there("eve.h5"));
  EXPECT_EQ(LabDatabase(places().database.string()).counts().attempts, 4u);
  for (const char* wrong : {"--keep 0", "--keep -1", "--keep 1.5", "--keep many", "--keep all --remove"})
    EXPECT_EQ(trocar(wrong), 2) << wrong << printed();
}

// Tests trocar lab as a user runs it, in folders of the test's own.

class LabProgram : public LabUser {
 protected:
  LabPlaces places() const {
    return {at("data") + "/trocar/lab.sqlite", at("data") + "/trocar/waiting", at("config") + "/trocar/lab.toml"};
  }
  void keep(const std::string& person, double started, double score) const {
    LabAttempt attempt;
    attempt.key = new_attempt_key();
    attempt.person = person, attempt.scene = "burn_line", attempt.title = "Burn", attempt.started = started;
    attempt.score = score, attempt.ending = "done", attempt.metrics = {{"task.task_time", started}};
    LabStation(places()).keep(attempt);
  }
};

TEST_F(LabProgram, PeopleAreAddedListedComparedAndErased) {
  EXPECT_EQ(lab("add zoe --name 'Zoë M'").status, 0);
  expect_sentence("add zoe", "the id 'zoe' is taken");
  expect_sentence("add ' x'", "must not begin or end with a space");
  for (int k = 1; k <= 3; ++k) keep("zoe", k, 20.0 * k), keep("li", k, 30.0 * k);
  const Outcome list = lab("list --recent");
  EXPECT_NE(list.out.find("6 attempts that waited"), std::string::npos) << list.out;
  EXPECT_NE(list.out.find("zoe  Zoë M  3         1      1970-01-01 00:00"), std::string::npos) << list.out;
  const Outcome show = lab("show zoe");
  EXPECT_NE(show.out.find("burn_line  1      3         60    60"), std::string::npos) << show.out;
  expect_sentence("show none", "no person has the id 'none'");
  const Outcome compared = lab("compare zoe li --task burn_line");
  EXPECT_NE(compared.out.find("2        40   60"), std::string::npos) << compared.out;
  EXPECT_EQ(lab("export -o " + at("all.csv")).status, 0);
  const std::string table = read_file(at("all.csv"));
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 7);
  expect_sentence("export -o " + at("all.csv"), "--force");
  EXPECT_NE(lab("").out.find("attempts  6"), std::string::npos);
  EXPECT_EQ(lab("backup -o " + at("b.sqlite")).status, 0);
  expect_sentence("backup -o " + at("b.sqlite"), "exists");
  EXPECT_EQ(lab("erase zoe").status, 0);
  EXPECT_NE(lab("").out.find("attempts  3"), std::string::npos);
  EXPECT_EQ(lab("restore " + at("b.sqlite")).status, 0);
  EXPECT_NE(lab("").out.find("attempts  6"), std::string::npos);
}

TEST_F(LabProgram, AStationKeepsItsDatabase) {
  EXPECT_EQ(lab("--database " + at("shared.sqlite")).status, 0);
  EXPECT_EQ(lab("add a").status, 0);
  EXPECT_TRUE(std::filesystem::exists(at("shared.sqlite")));
  EXPECT_FALSE(std::filesystem::exists(places().database));
  expect_sentence("--database mysql://h/d", "is not the address of a database");
  expect_sentence("--database " + mesh_, "is not a database of Trocar");
  expect_sentence("--database postgresql://u:secret@127.0.0.1:1/x list", "does not answer", 1);
  EXPECT_EQ(lab("--database postgresql://u:secret@127.0.0.1:1/x list").err.find("secret"), std::string::npos);
}

TEST_F(LabProgram, OnlyAttemptsAreEntered) {
  expect_sentence("enter " + mesh_, "m.obj");
  const Outcome made = run("record " + data("scenes/liver_and_stomach.toml") + " --trajectory " +
                           file("t.csv", kTrajectory) + " --backend scan --person zoe -o " + at("s.h5"));
  ASSERT_EQ(made.status, 0) << made.err;
  expect_sentence("enter " + at("s.h5"), "is a replay; only attempts with live devices count");
}

}  // namespace
}  // namespace trocar
