// Tests which recordings stay at a station: passes and the last attempts of each person at each level of a task; only
// files that surely are recordings of that person on this machine are removed; without a rule nothing is.
#include "app/lab/lab_station.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <set>

#include "sim/hdf5/recording.hpp"
#include "sim/hdf5/recording_lock.hpp"
#include "sim/support/machine.hpp"
#include "tests/app/ball_task.hpp"
#include "tests/sim/recorded_script.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

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
    a.person = person, a.scene = "x", a.started = started, a.score = score, a.ending = "done";
    a.station = host_name();
    return a;
  }
  // A recording of that person in the folder, of the attempt with this key.
  fs::path record(const std::string& name, const std::string& person, const std::string& key) const {
    test::Script script;
    script.header.run.activity = Activity::Attempt;
    script.header.run.person = person;
    script.header.run.attempt_key = key;
    script.header.scene_name = "x";
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
      a.level = 1 + static_cast<int>(random() % 2);
      a.scene = random() % 3 == 0 ? "y" : "x";
      a.ending = random() % 3 == 0 ? "not done" : "done";
      a.critical = random() % 5 == 0;
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

}  // namespace
}  // namespace trocar
