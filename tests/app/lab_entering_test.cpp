// Tests how attempts get into the lab's database, with the program as a user runs it: each recording once, none lost,
// only with plausible numbers, and only the person's own recordings are removed.
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "app/lab/lab_station.hpp"
#include "sim/support/process.hpp"
#include "tests/app/postgres_server.hpp"
#include "tests/app/recorded_attempt.hpp"
#include "tests/app/run_program.hpp"
#include "tests/sim/task/task_support.hpp"

namespace trocar {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPerson = "zoe";

RunNote attempt_of(const std::string& person) {
  return {ScoreClock::Tick, Activity::Attempt, person, "", new_attempt_key()};
}

class LabEntering : public LabUser {
 protected:
  fs::path waiting() const { return at("data") + "/trocar/waiting"; }
  LabPlaces places() const { return {at("data") + "/trocar/lab.sqlite", waiting(), at("config") + "/trocar/lab.toml"}; }
  std::size_t rows(const std::string& database = {}) const {
    return LabStation(places(), database).open_to_read().counts().attempts;
  }
  // Writes a note of an attempt's beginning as a program of an earlier version does.
  fs::path note(const std::string& name, const std::string& person, const fs::path& recording) const {
    return write_waiting(name + ".begun.json",
                         nlohmann::json{{"person", person}, {"recording", recording.string()}}.dump());
  }
  fs::path write_waiting(const std::string& name, const std::string& text) const {
    fs::create_directories(waiting());
    std::ofstream(waiting() / name) << text;
    return waiting() / name;
  }
  LabAttempt attempt(const std::string& recording) const {
    LabAttempt attempt;
    attempt.key = new_attempt_key();
    attempt.person = kPerson, attempt.scene = "touch_targets", attempt.title = "Touch", attempt.station = host_name();
    attempt.started = 1.7e9, attempt.seconds = 30.0, attempt.score = 50.0, attempt.ending = "done";
    attempt.recording = recording;
    return attempt;
  }
  const Scene& scene() {
    if (!scene_) scene_ = test::coarse_scene("touch_targets", folder_);
    return *scene_;
  }

  std::optional<Scene> scene_;
};

// Each path is named by a row of the person. None of these files is the recording of that attempt.
TEST_F(LabEntering, EraseRemovesOnlyRecordingsOfThePerson) {
  std::vector<fs::path> kept;
  const auto row = [&](const fs::path& file, const std::string& station = host_name()) {
    LabAttempt one = attempt(file.string());
    one.station = station;
    write_waiting(one.key + ".attempt.json", lab_attempt_json(one));
    kept.push_back(file);
  };
  row(file("thesis.txt", "my thesis"));
  fs::create_directory(at("folder"));
  row(at("folder"));
  test::record_attempt(scene(), at("other.h5"), 5, true, attempt_of("li"));
  row(at("other.h5"));
  test::record_attempt(scene(), at("elsewhere.h5"), 5, true, attempt_of(kPerson));
  row(at("elsewhere.h5"), "another-station");
  test::record_attempt(scene(), at("later.h5"), 5, true, attempt_of(kPerson));  // another attempt of the person
  row(at("later.h5"));
  fs::create_symlink(at("later.h5"), at("link.h5"));
  row(at("link.h5"));
  ASSERT_EQ(mkfifo(at("pipe.h5").c_str(), 0600), 0);
  row(at("pipe.h5"));
  fs::copy_file(trajectory_, at("relative.h5"));
  row("relative.h5");
  test::record_attempt(scene(), at("own.h5"), 5, true, attempt_of(kPerson));
  EXPECT_EQ(lab("enter " + at("own.h5")).status, 0);
  EXPECT_EQ(rows(), 9u);
  const Outcome erased = lab("erase zoe --recordings");
  EXPECT_EQ(erased.status, 0) << erased.err;
  EXPECT_NE(erased.out.find("zoe and 9 attempts erased; 1 recordings on this machine removed, 8 left"),
            std::string::npos)
      << erased.out;
  for (const fs::path& file : kept)
    if (file.is_absolute()) {
      EXPECT_TRUE(fs::symlink_status(file).type() != fs::file_type::not_found) << file;
      EXPECT_NE((erased.out + erased.err).find(file.string()), std::string::npos) << file << " is not named";
    }
  EXPECT_FALSE(fs::exists(at("own.h5")));
}

TEST_F(LabEntering, ADatabaseThatKeepsNothingIsRefused) {
  const LabAttempt one = attempt("/r/s.h5");
  const fs::path waits = write_waiting(one.key + ".attempt.json", lab_attempt_json(one));
  for (const char* address :
       {"sqlite:", "sqlite::memory:", ":memory:", "file::memory:", "sqlite:file::memory:",
        "'file:x.sqlite?mode=memory'", "'file:x?mode=memory&cache=shared'", ":other:", "'sqlite: '", "file:"})
    for (const char* command : {"", " list"}) {
      const Outcome outcome = lab("--database " + std::string(address) + command);
      EXPECT_EQ(outcome.status, 2) << address << command << outcome.out << outcome.err;
      EXPECT_NE(outcome.err.find("is not the name of a file"), std::string::npos) << address << outcome.err;
      EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
      EXPECT_FALSE(fs::exists(places().settings)) << address;
      ASSERT_TRUE(fs::exists(waits)) << address << command << ": the attempt is in no database and was removed";
    }
  for (const char* text : {"sqlite:", ":memory:", "", "\\u0000x.sqlite", "file::memory:"}) {
    fs::create_directories(places().settings.parent_path());
    std::ofstream(places().settings) << "database = \"" << text << "\"\n";
    EXPECT_EQ(lab("list").status, 2) << text;
    ASSERT_TRUE(fs::exists(waits)) << text;
  }
}

// A relative path is that of the folder in which it was chosen, with and without a prefix.
TEST_F(LabEntering, ARelativeDatabaseIsTheSameFileEverywhere) {
  fs::create_directories(at("a"));
  fs::create_directories(at("b"));
  const std::string in_a = "cd " + at("a") + " && " + lab_folders(), in_b = "cd " + at("b") + " && " + lab_folders();
  EXPECT_EQ(run("lab --database sqlite:x.sqlite", in_a).status, 0);
  EXPECT_EQ(run("lab add zoe", in_b).status, 0);
  EXPECT_FALSE(fs::exists(at("b") + "/x.sqlite"));
  EXPECT_EQ(LabStation(places()).open_to_read().counts().people, 1u);
}

// Starts programs that all find the note of one killed session. TROCAR_ROUNDS: of each database.
TEST_F(LabEntering, ProgramsThatStartTogetherEnterAKilledAttemptOnce) {
  constexpr int kPrograms = 8;
  const char* given = std::getenv("TROCAR_ROUNDS");
  const int rounds = given ? std::atoi(given) : 2;
  test::record_killed(scene(), at("killed.h5"), 60, attempt_of(kPerson));
  std::vector<std::string> databases = {""};
  if (test::PostgresServer::available())
    databases.push_back("entering_" + std::to_string(getpid()));
  else
    std::printf("PostgreSQL 15 is missing: with SQLite only\n");
  for (const std::string& name : databases)
    for (int round = 0; round < rounds; ++round) {
      std::string address;
      if (!name.empty()) {
        const std::string database = name + "_" + std::to_string(round);
        test::PostgresServer::shared().make_database(database);
        address = test::PostgresServer::shared().address(database);
        const LabDatabase tables(address);  // a command that reads makes none
      }
      fs::remove_all(at("data"));
      fs::copy_file(at("killed.h5"), at("s.h5"), fs::copy_options::overwrite_existing);
      note("00aa", kPerson, at("s.h5"));
      const std::string option = address.empty() ? "" : " --database '" + address + "'";
      std::string line;
      for (int k = 0; k < kPrograms; ++k)
        line += lab_folders() + " " + TROCAR_PROGRAM + " lab" + option + " list >>" + at("log") + " 2>&1 & ";
      ASSERT_EQ(std::system((line + "wait").c_str()), 0);
      ASSERT_EQ(lab(option + " list").status, 0);
      ASSERT_EQ(rows(address), 1u) << "rows after round " << round << " of "
                                   << (name.empty() ? "SQLite" : "PostgreSQL");
      ASSERT_TRUE(fs::is_empty(waiting())) << "a note is left";
    }
  std::printf("%zu databases, %d rounds each, %d programs: 1 row each\n", databases.size(), rounds, kPrograms);
}

// Also under another name, and packed.
TEST_F(LabEntering, ARecordingIsEnteredOnce) {
  test::record_attempt(scene(), at("s.h5"), 20, true, attempt_of(kPerson));
  for (int k = 0; k < 3; ++k) EXPECT_EQ(lab("enter " + at("s.h5")).status, 0);
  EXPECT_EQ(rows(), 1u);
  fs::copy_file(at("s.h5"), at("copy.h5"));
  ASSERT_EQ(run("file pack " + at("s.h5") + " -o " + at("packed.h5")).status, 0);
  for (const char* name : {"copy.h5", "packed.h5"}) {
    const Outcome again = lab("enter " + at(name));
    EXPECT_EQ(again.status, 0) << again.err;
    EXPECT_NE(again.out.find("is in the database already"), std::string::npos) << again.out;
    EXPECT_EQ(rows(), 1u) << name;
  }
  const Outcome other = lab("enter --person li " + at("copy.h5"));
  EXPECT_NE(other.out.find("of zoe is in the database already"), std::string::npos) << other.out;
  EXPECT_EQ(rows(), 1u);
  test::record_attempt(scene(), at("t.h5"), 20, true, attempt_of(kPerson));
  test::change_text(at("t.h5"), "attempt_key", new_attempt_key());
  EXPECT_EQ(lab("enter " + at("t.h5")).status, 0);
  EXPECT_EQ(rows(), 2u) << "two attempts with the same motion are two attempts";
}

// A killed session whose recording is on a disk that is not mounted.
TEST_F(LabEntering, ARecordingThatIsAwayKeepsItsNote) {
  fs::create_directory(at("disk"));
  test::record_killed(scene(), at("disk") + "/s.h5", 60, attempt_of(kPerson));
  const fs::path kept = note("00aa", kPerson, at("disk") + "/s.h5");
  fs::rename(at("disk"), at("away"));
  for (const bool folder : {false, true}) {  // a mount point without its disk is an empty folder
    if (folder) fs::create_directory(at("disk"));
    const Outcome outcome = lab("list");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    ASSERT_TRUE(fs::exists(kept)) << "the note was removed";
    EXPECT_NE(outcome.err.find("1 attempts still wait: " + at("disk") + "/s.h5"), std::string::npos) << outcome.err;
    EXPECT_EQ(rows(), 0u);
  }
  fs::remove(at("disk"));
  fs::rename(at("away"), at("disk"));
  EXPECT_EQ(lab("list").status, 0);
  EXPECT_EQ(rows(), 1u);
  EXPECT_TRUE(fs::is_empty(waiting()));
}

// The same with a medium that is mounted read-only.
TEST_F(LabEntering, ARecordingOnAReadOnlyMediumKeepsItsNote) {
  fs::create_directory(at("disk"));
  if (mount("none", at("disk").c_str(), "tmpfs", 0, nullptr) != 0) GTEST_SKIP() << "this user cannot mount a medium";
  test::record_killed(scene(), at("disk") + "/s.h5", 60, attempt_of(kPerson));
  const fs::path kept = note("00aa", kPerson, at("disk") + "/s.h5");
  mount("none", at("disk").c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr);
  const Outcome outcome = lab("list");
  EXPECT_TRUE(fs::exists(kept)) << "the note was removed";
  EXPECT_NE(outcome.err.find("1 attempts still wait: " + at("disk") + "/s.h5"), std::string::npos) << outcome.err;
  mount("none", at("disk").c_str(), "tmpfs", MS_REMOUNT, nullptr);
  EXPECT_EQ(lab("list").status, 0);
  EXPECT_EQ(rows(), 1u);
  umount(at("disk").c_str());
}

// One note or attempt of these holds up neither the others nor the command, and stays where it is.
TEST_F(LabEntering, WhatCannotBeEnteredHoldsUpNothing) {
  const fs::path loop = at("loop.h5");
  fs::create_symlink(loop, loop);
  ASSERT_EQ(mkfifo(at("pipe.h5").c_str(), 0600), 0);
  int count = 0;
  for (const fs::path& path : {loop, fs::path(at("pipe.h5")), fs::path("/dev/zero"),
                               fs::path(at(std::string(300, 'x'))), fs::path("/" + std::string(5000, 'y')),
                               fs::path(at("m.obj/s.h5")), fs::path("s.h5"), fs::path(folder_.path()), fs::path(mesh_)})
    note("n" + std::to_string(++count), kPerson, path);
  write_waiting("broken.begun.json", "{");
  fs::create_directory(waiting() / "folder.begun.json");
  fs::create_directory(waiting() / "folder.attempt.json");
  test::record_attempt(scene(), at("s.h5"), 5, true, attempt_of("li"));
  note("zz", "li", at("s.h5"));
  const LabAttempt good = attempt("/r/s.h5");
  write_waiting("zz.attempt.json", lab_attempt_json(good));
  const auto before = std::distance(fs::directory_iterator(waiting()), {});
  const Outcome outcome = lab("list");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(rows(), 2u) << outcome.err;
  EXPECT_EQ(std::distance(fs::directory_iterator(waiting()), {}), before - 2) << outcome.err;
  EXPECT_NE(outcome.err.find("12 attempts still wait"), std::string::npos) << outcome.err;
}

TEST_F(LabEntering, ImpossibleNumbersOfAWaitingAttemptAreRefused) {
  const auto with = [&](const char* key, const std::string& value) {
    auto json = nlohmann::ordered_json::parse(lab_attempt_json(attempt("/r/s.h5")));
    std::string text = json.dump();
    const std::string old = "\"" + std::string(key) + "\":" + json[key].dump();
    text.replace(text.find(old), old.size(), "\"" + std::string(key) + "\":" + value);
    return text;
  };
  const std::string future = std::to_string(std::time(nullptr) + 10 * 86400);
  const std::pair<const char*, std::string> cases[] = {{"score", "1e308"},
                                                       {"score", "-1"},
                                                       {"score", "100.001"},
                                                       {"score", "1e999"},
                                                       {"level", "5000000000"},
                                                       {"level", "0"},
                                                       {"level", "-3"},
                                                       {"level", "1.5"},
                                                       {"level", "1e300"},
                                                       {"started", "-1e300"},
                                                       {"started", "-1"},
                                                       {"started", future},
                                                       {"started", "1e308"},
                                                       {"seconds", "-1"},
                                                       {"seconds", "1e300"},
                                                       {"seconds", "86401"},
                                                       {"score", "\"50\""},
                                                       {"metrics", "[]"},
                                                       {"critical", "2"},
                                                       {"metrics", "{\"a\": \"b\"}"},
                                                       {"key", "\"../../x\""},
                                                       {"key", "\"short\""},
                                                       {"person", "\"a/b\""},
                                                       {"person", "\"zo\\u200be\""},
                                                       {"scene", "\"a\\u0000b\""},
                                                       {"metrics", "{\"a\": 1e999}"}};
  std::vector<fs::path> files;
  for (const auto& [key, value] : cases)
    files.push_back(write_waiting("bad" + std::to_string(files.size()) + ".attempt.json", with(key, value)));
  const LabAttempt good = attempt("/r/s.h5");
  write_waiting("z.attempt.json", lab_attempt_json(good));
  const Outcome outcome = lab("list");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(rows(), 1u) << "only the good one is entered";
  for (std::size_t k = 0; k < files.size(); ++k)
    EXPECT_TRUE(fs::exists(files[k])) << cases[k].first << " " << cases[k].second << " was entered";
  const std::string several = std::to_string(files.size()) + " attempts still wait: ";
  EXPECT_NE(outcome.err.find(several + files[0].string() + ": score"), std::string::npos) << outcome.err;
}

TEST_F(LabEntering, ARecordingNeedsAPlausibleDate) {
  for (const char* date :
       {"2099-01-01 10:00:00", "yesterday", "", "2026-02-30 10:00:00", "2026-11-28 10:00:00 or later"}) {
    fs::remove(at("s.h5"));
    test::record_attempt(scene(), at("s.h5"), 5, true, attempt_of(kPerson));
    test::change_text(at("s.h5"), "date", date);
    const Outcome outcome = lab("enter " + at("s.h5"));
    EXPECT_EQ(outcome.status, 2) << date << outcome.out;
    EXPECT_NE(outcome.err.find(at("s.h5") + ": its date"), std::string::npos) << outcome.err;
  }
  EXPECT_FALSE(fs::exists(places().database) && rows() > 0);
}

// Characters that are not seen, or that look like a space.
TEST_F(LabEntering, IdsThatLookLikeOthersAreRefused) {
  EXPECT_EQ(lab("add 'zoe m'").status, 0);
  for (const char* id : {"zoe\u200b m", "zoe\u200d m", "zoe\u00a0m", "zoe\u2060 m", "zoe\u00ad m", "zoe\u3164m",
                         "zoe\u2003m", "zoe\u034f m", "zoe\ufe0f m", "zoe\U000e0041 m", "zoe\u180e m"}) {
    const Outcome outcome = lab("add '" + std::string(id) + "'");
    EXPECT_EQ(outcome.status, 2) << id;
  }
  for (const char* id : {"Zoë", "宮本 武蔵", "Ольга", "أمل", "नमिता", "x-1_2.3"})
    EXPECT_EQ(lab("add '" + std::string(id) + "'").status, 0) << id;
}

TEST_F(LabEntering, PathsOfAnyBytesAreKept) {
  const std::string folder = at("caf\xe9 \xef\x9e\x80 \x7f \"");
  fs::create_directory(folder);
  const fs::path file = folder + "/s.h5";
  test::record_attempt(scene(), file, 5, true, attempt_of(kPerson));
  const Outcome entered = lab("enter '" + file.string() + "'");
  EXPECT_EQ(entered.status, 0) << entered.err;
  const Outcome erased = lab("erase zoe --recordings");
  EXPECT_NE(erased.out.find("1 recordings on this machine removed"), std::string::npos) << erased.out << erased.err;
  EXPECT_FALSE(fs::exists(file));
  // SQLite takes names in UTF-8 only.
  const Outcome chosen = lab("--database '" + at("bad\xff.sqlite") + "'");
  EXPECT_EQ(chosen.status, 2) << chosen.err;
  EXPECT_NE(chosen.err.find("must be valid UTF-8"), std::string::npos) << chosen.err;
  EXPECT_FALSE(fs::exists(at("bad\xff.sqlite")));
}

// One text of the folder `waiting`, and what it may become.
class Mutation {
 public:
  explicit Mutation(std::uint64_t seed) : dice_(seed) {}

  std::string of(const std::string& good, const std::vector<std::string>& paths) {
    switch (below(6)) {
      case 0:
        return flipped(good);
      case 1:
        return good.substr(0, below(good.size()));
      case 2:
        return flipped(with_value(good, paths));
      case 3:
        return std::string(below(2000), below(2) ? '[' : '{');
      default:
        return with_value(good, paths);
    }
  }
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(dice_() % count); }

 private:
  std::string flipped(std::string text) {
    for (std::size_t k = 0; k <= below(4) && !text.empty(); ++k)
      text[below(text.size())] ^= static_cast<char>(1u << below(8));
    return text;
  }
  // Another value for one of the keys.
  std::string with_value(const std::string& good, const std::vector<std::string>& paths) {
    static const char* const kValues[] = {"null",
                                          "true",
                                          "[]",
                                          "{}",
                                          "\"\"",
                                          "1e308",
                                          "-1e300",
                                          "1e999",
                                          "5000000000",
                                          "-1",
                                          "0.5",
                                          "\"\\u0000\"",
                                          "\"\\ud800\"",
                                          "\"\xff\xfe\"",
                                          "\"zo\\u200be\"",
                                          "\"../../../x\"",
                                          "[[[[[]]]]]",
                                          "\"2026\"",
                                          "18446744073709551616"};
    auto json = nlohmann::ordered_json::parse(good);
    auto key = json.begin();
    std::advance(key, below(json.size()));
    if (below(3) == 0 && json.contains("recording")) key = json.find("recording");
    const std::string old = "\"" + key.key() + "\":" + key->dump();
    std::string value = kValues[below(std::size(kValues))];
    if (key.key() == "recording" && below(4) != 0) value = "\"" + paths[below(paths.size())] + "\"";
    std::string text = json.dump();
    return text.replace(text.find(old), old.size(), "\"" + key.key() + "\":" + value);
  }

  std::mt19937_64 dice_;
};

class LabMutations : public LabEntering {
 protected:
  // Paths to files that are not the recording of an attempt.
  std::vector<std::string> odd_paths() {
    fs::create_symlink(at("loop"), at("loop"));
    mkfifo(at("pipe").c_str(), 0600);
    file("foreign.txt", "another person's file");
    fs::create_directory(at("folder"));
    test::record_attempt(scene(), at("other.h5"), 5, true, attempt_of("li"));
    fs::copy_file(at("other.h5"), at("short.h5"));
    fs::resize_file(at("short.h5"), 3000);
    fs::create_symlink(at("other.h5"), at("link.h5"));
    return {"/dev/zero",
            "/dev/full",
            at("loop"),
            at("pipe"),
            at("foreign.txt"),
            at("folder"),
            at("other.h5"),
            at("short.h5"),
            at("link.h5"),
            "/proc/self/mem",
            "relative.h5",
            "/" + std::string(300, 'n'),
            std::string(9000, '/'),
            at("") + "/../" + at("other.h5"),
            at("\xff.h5"),
            "/dev/stdin",
            "/proc/1/root",
            at("foreign.txt/x")};
  }
  // Everything outside the folders of the station.
  std::string outside() const {
    std::string list;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      const std::string name = entry.path().filename().string();
      std::error_code none;
      const bool regular = entry.symlink_status(none).type() == fs::file_type::regular;
      if (name != "data" && name != "config") list += name + (regular ? std::to_string(entry.file_size()) : "") + "\n";
    }
    return list;
  }
};

// TROCAR_SEED: another seed. TROCAR_MUTATIONS: another number.
TEST_F(LabMutations, OfNotesAndWaitingAttemptsDoNoHarm) {
  const char *seed_text = std::getenv("TROCAR_SEED"), *count_text = std::getenv("TROCAR_MUTATIONS");
  const std::uint64_t seed = seed_text ? std::strtoull(seed_text, nullptr, 10) : 20261128u;
  const int count = count_text ? std::atoi(count_text) : 300;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Mutation mutation(seed);
  const std::vector<std::string> paths = odd_paths();
  const std::string untouched = outside();
  const LabStation station(places());
  double longest = 0.0;
  std::size_t entered = 0;
  for (int k = 0; k < count; ++k) {
    fs::remove_all(waiting());
    const bool of_note = mutation.below(2) == 0;
    const std::string good = of_note ? nlohmann::ordered_json{{"person", kPerson},
                                                              {"recording", at("none.h5")},
                                                              {"key", new_attempt_key()},
                                                              {"station", host_name()}}
                                           .dump()
                                     : nlohmann::ordered_json::parse(lab_attempt_json(attempt(at("none.h5")))).dump();
    write_waiting(of_note ? "m.begun.json" : "m.attempt.json", mutation.of(good, paths));
    const LabAttempt other = attempt("/r/s.h5");
    write_waiting("z.attempt.json", lab_attempt_json(other));
    const auto begin = std::chrono::steady_clock::now();
    HandedIn handed;
    ASSERT_NO_THROW(handed = station.hand_in()) << k;
    ASSERT_NO_THROW(station.waiting_of(kPerson)) << k;
    longest = std::max(longest, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    entered += handed.added;
    ASSERT_TRUE(station.open_to_read().attempt(other.key)) << k << ": holds up the attempt beside it: " << handed.why;
    ASSERT_EQ(outside(), untouched) << k;
    for (const LabAttempt& one : station.open_to_read().attempts({.most = 5})) {
      ASSERT_TRUE(one.started >= 0.0 && one.started < 4e9 && one.level >= 1 && one.level <= 1000) << k;
      ASSERT_TRUE(!one.score || (*one.score >= 0.0 && *one.score <= 100.0)) << k;
    }
  }
  EXPECT_LT(longest, 5.0);
  std::printf("seed %llu: %d mutations, %zu entered of %d others, longest %.3f s\n",
              static_cast<unsigned long long>(seed), count, entered, count, longest);
}

}  // namespace
}  // namespace trocar
