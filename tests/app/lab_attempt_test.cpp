// Tests attempts in the lab: what it keeps, how they get in, and the course that they are part of.
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <nlohmann/json.hpp>

#include <ctime>
#include <thread>

#include "app/lab/lab_address.hpp"
#include "app/lab/lab_attempt.hpp"
#include "app/lab/lab_course.hpp"
#include "app/lab/lab_desk.hpp"
#include "app/lab/lab_station.hpp"
#include "app/lab/lab_tables.hpp"
#include "geometry/error.hpp"
#include "sim/course/curriculum.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/hdf5/recording_layout.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/scene/scene.hpp"
#include "sim/scene/toml_table.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"
#include "tests/app/lab_support.hpp"
#include "tests/app/run_program.hpp"
#include "tests/sim/task/task_support.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test.hpp"

namespace trocar {
namespace {

// Tests what the lab keeps of an attempt, which recording is its own, the address of the database, and the tables.

// Tests dates, keys and the file form of an attempt.

// Against the C library.
TEST(LabDate, TextsAreReadAndWritten) {
  const std::uint32_t seed = std::random_device{}();
  std::mt19937_64 dice(seed);
  for (int k = 0; k < 20000; ++k) {
    const auto seconds = static_cast<std::time_t>(dice() % 253402300800u);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", std::gmtime(&seconds));
    ASSERT_EQ(date_of_text(text), static_cast<double>(seconds)) << text << ", seed " << seed;
    ASSERT_EQ(text_of_date(static_cast<double>(seconds)), std::string(text).substr(0, 16)) << "seed " << seed;
  }
  for (const char* none : {"", "yesterday", "2026-02-30 10:00:00", "2026-11-26 25:00:00", "2026-11-26 10",
                           "2026-11-26 10:20:30 ", "2026-11-26 +1:00:00", "+026-11-26", "26-11-26"})
    EXPECT_EQ(date_of_text(none), 0.0) << none;
  EXPECT_EQ(date_of_text("2026-11-26"), 1795651200.0);
  EXPECT_EQ(text_of_date(NAN), "");
  EXPECT_EQ(text_of_date(-1.0), "");
  EXPECT_EQ(text_of_date(1e30), "");
}

TEST(LabAttempt, KeysDiffer) {
  std::set<std::string> keys;
  for (int k = 0; k < 1000; ++k) {
    const std::string key = new_attempt_key();
    EXPECT_EQ(key.size(), 32u);
    EXPECT_EQ(key.find_first_not_of("0123456789abcdef"), std::string::npos);
    keys.insert(key);
  }
  EXPECT_EQ(keys.size(), 1000u);
}

TEST(LabAttempt, ItsFileHoldsEveryBit) {
  LabAttempt a;
  a.key = new_attempt_key(), a.person = "Zoë 宮", a.scene = "s", a.started = 1e9 + 0.1, a.seconds = 1.0 / 3.0,
  a.score = 200.0 / 3.0;
  a.critical = true, a.level = 3, a.recording = "/a \"b\"\n.h5";
  a.metrics = {{"task.x", 0.1 + 0.2}, {"left.y", 1e-300}};
  const LabAttempt b = lab_attempt_of_json(lab_attempt_json(a), "f");
  EXPECT_EQ(lab_attempt_json(b), lab_attempt_json(a));
  EXPECT_EQ(b.metrics, a.metrics);
  EXPECT_EQ(b.score, a.score);
  EXPECT_EQ(b.started, a.started);
  a.score.reset();
  EXPECT_FALSE(lab_attempt_of_json(lab_attempt_json(a), "f").score);
}

TEST(LabAttempt, DamagedFilesAreRefused) {
  LabAttempt a;
  a.key = new_attempt_key(), a.person = "p";
  const std::string good = lab_attempt_json(a);
  for (std::size_t cut = 0; cut + 2 < good.size(); cut += 7)
    EXPECT_THROW(lab_attempt_of_json(good.substr(0, cut), "f"), InputError) << cut;
  for (const char* bad : {"[]", "3", "{\"format\": \"trocar-attempt-9\"}", "null"})
    EXPECT_THROW(lab_attempt_of_json(bad, "f"), InputError) << bad;
  a.person = "../x";
  EXPECT_THROW(lab_attempt_of_json(lab_attempt_json(a), "f"), InputError);
}

// Tests which files are the recording of an attempt: its station, person, key and kind of file decide, not its path.

namespace fs = std::filesystem;

class OwnRecordingTest : public ::testing::Test {
 protected:
  OwnRecordingTest() : scene_(test::coarse_scene("touch_targets", folder_)) {}
  fs::path at(const char* name) const { return folder_.path() / name; }
  RecordingClaim recorded(const char* name, const std::string& person, const std::string& key) const {
    test::record_attempt(scene_, at(name), 5, true, {ScoreClock::Tick, Activity::Attempt, person, "", key});
    return {at(name).string(), host_name(), "zoe", key};
  }
  static void expect(Claimed answer, const RecordingClaim& claim, const std::string& why) {
    const OwnRecording own = own_recording(claim);
    EXPECT_EQ(own.answer, answer) << claim.recording << ": " << own.why;
    EXPECT_NE(own.why.find(why), std::string::npos) << own.why;
    EXPECT_EQ(own.why.empty(), answer == Claimed::Ours) << own.why;
  }

  TemporaryFolder folder_;
  Scene scene_;
};

TEST_F(OwnRecordingTest, PersonStationAndKeyDecide) {
  RecordingClaim claim = recorded("s.h5", "zoe", new_attempt_key());
  expect(Claimed::Ours, claim, "");
  claim.key.clear();  // a note of an earlier version
  expect(Claimed::Ours, claim, "");
  claim.key = new_attempt_key();
  expect(Claimed::Foreign, claim, "another attempt");
  claim = recorded("s2.h5", "li", new_attempt_key());
  expect(Claimed::Foreign, claim, "is a recording of li, not of zoe");
  claim = recorded("s3.h5", "zoe", new_attempt_key());
  claim.station = "elsewhere";
  expect(Claimed::Foreign, claim, "is on the machine elsewhere");
  claim.station.clear();
  expect(Claimed::Foreign, claim, "unknown machine");
}

// The key says whose attempt it is when the recording names no person.
TEST_F(OwnRecordingTest, ARecordingWithoutAPersonNeedsTheKey) {
  RecordingClaim claim = recorded("s.h5", "", new_attempt_key());
  expect(Claimed::Ours, claim, "");
  claim.key = new_attempt_key();
  expect(Claimed::Foreign, claim, "names no person");
  claim.key.clear();
  expect(Claimed::Foreign, claim, "names no person");
}

TEST_F(OwnRecordingTest, OnlyRegularRecordingsCount) {
  const RecordingClaim own = recorded("s.h5", "zoe", new_attempt_key());
  const auto expect_at = [&](const fs::path& path, Claimed answer, const char* why) {
    RecordingClaim claim = own;
    claim.recording = path.string();
    expect(answer, claim, why);
  };
  expect_at(at("none.h5"), Claimed::Away, "is not there");
  expect_at(at("none/s.h5"), Claimed::Away, "is not there");
  expect_at(at("s.h5") / "x", Claimed::Away, "is not there");
  expect_at("/" + std::string(300, 'x'), Claimed::Away, "File name too long");
  fs::create_symlink(at("s.h5"), at("link.h5"));
  expect_at(at("link.h5"), Claimed::Foreign, "symbolic link");
  fs::create_symlink(at("loop"), at("loop"));
  expect_at(at("loop"), Claimed::Foreign, "symbolic link");
  expect_at(at("loop") / "s.h5", Claimed::Away, "cannot be read");
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  for (const fs::path& odd : {at("pipe"), folder_.path(), fs::path("/dev/zero")})
    expect_at(odd, Claimed::Foreign, "is a folder, a pipe or a device");
  expect_at("s.h5", Claimed::Foreign, "whole path");
  expect_at("", Claimed::Foreign, "whole path");
  expect_at(folder_.write("text.h5", "no recording"), Claimed::Foreign, "is not a recording");
  expect_at(folder_.write("empty.h5", ""), Claimed::Foreign, "is empty");
  fs::copy_file(at("s.h5"), at("cut.h5"));
  fs::resize_file(at("cut.h5"), 4000);
  expect_at(at("cut.h5"), Claimed::Foreign, "cannot be read as a recording");
  fs::copy_file(at("s.h5"), at("foreign.h5"));
  test::change_text(at("foreign.h5"), "format", "other-1");
  expect_at(at("foreign.h5"), Claimed::Foreign, "not a recording");
}

TEST_F(OwnRecordingTest, ADamagedKeyIsRefused) {
  const std::string key = new_attempt_key();
  recorded("s.h5", "zoe", key);
  EXPECT_EQ(attempt_key_of(Recording(at("s.h5")), "s.h5"), key);
  for (const char* damaged : {"../../x", ""}) {
    test::change_text(at("s.h5"), kAttemptKeyAttribute, damaged);
    EXPECT_THROW(attempt_key_of(Recording(at("s.h5")), "s.h5"), InputError) << damaged;
  }
}

// Tests that no form of a password in a database's address reaches a message, and which addresses are refused.

// Every form in which a user may write the password SECRET. None of the servers exists.
constexpr const char* kPasswords[] = {
    "postgresql://u:SECRET@127.0.0.1:1/lab",
    "postgres://u:SECRET@127.0.0.1:1/lab",
    "postgresql://u:pa@SECRET@127.0.0.1:1/lab",
    "postgresql://u:pa/SECRET@127.0.0.1:1/lab",
    "postgresql://u:pa:SECRET@127.0.0.1:1/lab",
    "postgresql://u:pa?SECRET@127.0.0.1:1/lab",
    "postgresql://u:pa#SECRET@127.0.0.1:1/lab",
    "postgresql://u:12/SECRET@127.0.0.1:1/lab",
    "postgresql://u:SECRET/lab",
    "postgresql://u:SECRET",
    "postgresql://u:%53ECRET@127.0.0.1:1/lab",
    "postgresql://u:SECRET%zz@127.0.0.1:1/lab",
    "postgresql://u:SECRET space@127.0.0.1:1/lab",
    "postgresql://127.0.0.1:1/lab?user=u&password=SECRET",
    "postgresql:///lab?host=127.0.0.1&port=1&password=SECRET",
    "postgresql://127.0.0.1:1/lab?password=a@SECRET",
    "postgresql://127.0.0.1:1/lab?sslpassword=SECRET",
    "postgresql://127.0.0.1:1/lab?%70assword=SECRET",
    "postgresql://127.0.0.1:1/lab?PASSWORD=SECRET",
    "postgresql://u:SECRET@127.0.0.1:1/lab?fly=1",
    "POSTGRESQL://u:SECRET@127.0.0.1:1/lab",
    "postgresql:u:SECRET@127.0.0.1:1/lab",
    "postgresql:/u:SECRET@127.0.0.1:1/lab",
    " postgresql://u:SECRET@127.0.0.1:1/lab",
    "mysql://u:SECRET@h/lab",
    "u:SECRET@127.0.0.1/lab",
    "host=127.0.0.1 password=SECRET dbname=lab",
    "password=SECRET host=127.0.0.1",
    "HOST=127.0.0.1 PASSWORD=SECRET dbname=lab",
    "host = 127.0.0.1 password = SECRET",
    "dbname=lab password='SECRET'",
    "sqlite:host=127.0.0.1 password=SECRET",
    "host=127.0.0.1\tpassword=SECRET",
    "user=u sslpassword=SECRET",
};

TEST(LabAddressForms, NoFormOfAPasswordIsShown) {
  for (const std::string address : kPasswords) {
    std::string shown = without_password(address);
    EXPECT_EQ(shown.find("ECRET"), std::string::npos) << address << " -> " << shown;
    try {
      const LabAddress read = lab_address(address);
      EXPECT_EQ(read.engine, LabEngine::Postgresql) << address << " would be a file";
      server_parameters(address);
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).find("ECRET"), std::string::npos) << error.what();
    }
  }
}

TEST(LabAddressForms, AnAddressIsShownWithoutItsPassword) {
  EXPECT_EQ(without_password("postgresql://ann:x@server:5433/lab?sslmode=require"), "postgresql://ann@server:5433/lab");
  EXPECT_EQ(without_password("postgresql://ann@server/lab"), "postgresql://ann@server/lab");
  EXPECT_EQ(without_password("postgresql://lab@%2Ftmp%2Fpg/lab"), "postgresql://lab@%2Ftmp%2Fpg/lab");
  EXPECT_EQ(without_password("postgresql://[::1]:5432/lab"), "postgresql://::1:5432/lab");
  EXPECT_EQ(without_password("/home/ann/lab.sqlite"), "/home/ann/lab.sqlite");
  EXPECT_EQ(without_password("lab 2026.sqlite"), "lab 2026.sqlite");
  EXPECT_EQ(without_passwords("option --x postgres://a:b@c/d is unknown"), "option --x postgresql://a@c/d is unknown");
}

TEST(LabAddressForms, EveryWaitForAServerHasALimit) {
  const std::string usual = server_parameters("postgresql://a@b/c").text;
  for (const char* limit : {"connect_timeout=5", "tcp_user_timeout=10000", "keepalives_idle=10"})
    EXPECT_NE(usual.find(limit), std::string::npos) << usual;
  for (const char* given : {"0", "100000", "-1", "x"})
    EXPECT_EQ(server_parameters(std::string("postgresql://a@b/c?connect_timeout=") + given)
                  .text.find(std::string("connect_timeout=") + given),
              std::string::npos);
}

class LabAddressProgram : public LabUser {};

TEST_F(LabAddressProgram, NoCommandPrintsAPassword) {
  for (std::size_t k = 0; k < std::size(kPasswords); ++k) {
    const std::string address = kPasswords[k];
    const std::string file = folder_.write("address", address).string();
    for (const char* arguments : {"lab --database \"$(cat F)\" list", "lab --database \"$(cat F)\"",
                                  "lab --databases \"$(cat F)\" list", "lab list x \"$(cat F)\""}) {
      std::string line = arguments;
      if (k % 5 != 0 && line != "lab --database \"$(cat F)\" list") continue;
      line.replace(line.find('F'), 1, file);
      const Outcome outcome = run(line, lab_folders());
      EXPECT_NE(outcome.status, 0) << line << address;
      const bool option = std::string(arguments).find("--database ") != std::string::npos;
      const std::string printed = outcome.out + outcome.err;
      if (option || address.starts_with("postgres")) {
        EXPECT_EQ(printed.find("ECRET"), std::string::npos) << address << ": " << printed;
      }
      EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    }
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "config"));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path()))
    EXPECT_EQ(entry.path().string().find("SECRET"), std::string::npos);
}

// Tests the texts of the lab: columns, names of several bytes a letter, CSV cells, medians of the last attempts.

LabAttempt timed_attempt(double score, double time) {
  LabAttempt a;
  a.key = "k", a.person = "a, \"b\"", a.scene = "burn_line", a.score = score, a.started = 0.0, a.ending = "done";
  a.metrics = {{"task.task_time", time}};
  return a;
}

TEST(LabTables, ColumnsAlignLettersOfSeveralBytes) {
  const std::string table = people_table({{{"Zoë", "宮本 茂", 0.0}, 3, 2, 86400.0}, {{"al", "", 0.0}, 0, 0, 0.0}});
  EXPECT_EQ(table,
            "id   name  attempts  tasks  latest (UTC)\n"
            "Zoë  宮本 茂  3         2      1970-01-02 00:00\n"
            "al         0         0      -\n");
  EXPECT_EQ(people_table({}), "no people\n");
}

TEST(LabTables, ACommaOrAQuoteIsQuotedInCsv) {
  const std::string row = attempt_csv_row(timed_attempt(50.5, 1.25));
  EXPECT_EQ(row, "k,\"a, \"\"b\"\"\",1970-01-01 00:00,burn_line,1,,done,0,50.5,0,,,,task.task_time,1.25\n");
  LabAttempt bare = timed_attempt(1, 1);
  bare.metrics.clear(), bare.score.reset();
  EXPECT_EQ(attempt_csv_row(bare), "k,\"a, \"\"b\"\"\",1970-01-01 00:00,burn_line,1,,done,0,,0,,,,,\n");
}

TEST(LabTables, AComparisonHasTheMedianOfTheLastFiveAttempts) {
  PersonAttempts first{"one", {}}, second{"two", {timed_attempt(70, 30)}};
  for (int k = 0; k < 7; ++k) first.attempts.push_back(timed_attempt(k, k));
  const std::string table = comparison_table({first, second});
  EXPECT_NE(table.find("1        0    70\n"), std::string::npos) << table;
  EXPECT_NE(table.find("7        6\n"), std::string::npos) << table;
  EXPECT_NE(table.find("task.task_time        4    30\n"), std::string::npos) << table;
}

TEST(LabTables, AnEmptyComparisonHasNoRows) {
  EXPECT_EQ(comparison_table({{"one", {}}, {"two", {}}}), "attempt  one  two\n\nmedian of the last 5  one  two\n");
}

// Tests how attempts get into the lab's database, with the program as a user runs it: each recording once, none lost,
// only with plausible numbers, and only the person's own recordings are removed.

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
    const auto kind = below(6);
    if (kind == 0) return flipped(good);
    if (kind == 1) return good.substr(0, below(good.size()));
    if (kind == 2) return flipped(with_value(good, paths));
    if (kind == 3) return std::string(below(2000), below(2) ? '[' : '{');
    return with_value(good, paths);
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

// Tests progress in a curriculum, thresholds from experts, and the desk where a person logs in.

// Tests progress in a curriculum from the attempts of the database: they count as the scores of the recordings would,
// and the next step says what the latest attempt missed.

constexpr const char* kTwoSteps =
    "schema = 1\ntitle = \"T\"\nsources = [\"s\"]\n"
    "[[step]]\nname = \"a\"\ntitle = \"First\"\nscene = \"x.toml\"\nleast_score = 80\nin_a_row = 2\n"
    "[[step.at_most]]\nmetric = \"task_errors\"\nvalue = 1\n"
    "[[step]]\nname = \"b\"\ntitle = \"Second\"\nscene = \"x.toml\"\nlevel = 2\nleast_score = 80\nrequires = [\"a\"]\n";

LabAttempt step_attempt(double date, double score, double errors, int level = 1) {
  LabAttempt a;
  a.scene = "x", a.level = level, a.started = date, a.score = score, a.ending = "done";
  a.metrics = {{"task.task_errors", errors}, {"whole.peak_force", 2.0}, {"probe.peak_force", 1.0}};
  return a;
}

TEST(LabCourse, MetricsHaveTheNamesOfACurriculum) {
  const CourseAttempt course = course_attempt(step_attempt(5.0, 90.0, 0.0, 2));
  EXPECT_EQ(course.metrics.at("task_errors"), 0.0);
  EXPECT_EQ(course.metrics.at("peak_force"), 2.0);
  EXPECT_EQ(course.metrics.at("probe.peak_force"), 1.0);
  EXPECT_EQ(course.level, 2);
  EXPECT_TRUE(course.finished);
  LabAttempt none;
  none.ending = "not done";
  EXPECT_TRUE(std::isnan(course_attempt(none).score));
  EXPECT_FALSE(course_attempt(none).finished);
}

TEST(LabCourse, AStepIsPassedTwiceInARowAndThenTheNextOneOpens) {
  const Curriculum curriculum = parse_curriculum(kTwoSteps, "c.toml");
  std::vector<LabAttempt> attempts;
  CourseView view = course_view(curriculum, attempts, 100.0);
  EXPECT_EQ(view.next, 0u);
  EXPECT_EQ(view.progress[1].state, StepState::Locked);
  attempts = {step_attempt(1, 90, 0), step_attempt(2, 90, 3)};
  view = course_view(curriculum, attempts, 100.0);
  EXPECT_EQ(view.progress[0].in_a_row, 0);
  ASSERT_EQ(view.latest_missed.size(), 1u);
  attempts.push_back(step_attempt(3, 85, 1)), attempts.push_back(step_attempt(4, 85, 1));
  view = course_view(curriculum, attempts, 100.0);
  EXPECT_EQ(view.progress[0].state, StepState::Passed);
  EXPECT_EQ(view.next, 1u);
  attempts.push_back(step_attempt(5, 79.9, 0, 2));
  const std::string table = course_table(course_view(curriculum, attempts, 100.0));
  EXPECT_NE(table.find("First   passed  2 of 2 in a row"), std::string::npos) << table;
  EXPECT_NE(table.find("next: Second\n  The score is 79.9; at least 80 is required.\n"), std::string::npos) << table;
  attempts.push_back(step_attempt(6, 80, 0, 2));
  EXPECT_NE(course_table(course_view(curriculum, attempts, 100.0)).find("all steps are passed"), std::string::npos);
}

// Counted by hand: the third attempt is the second pass in a row.
TEST(LabCourse, AnAttemptsOutcomeSaysWhatItMissedAndWhatItOpens) {
  const Curriculum curriculum = parse_curriculum(kTwoSteps, "c.toml");
  std::vector<LabAttempt> attempts = {step_attempt(1, 90, 2), step_attempt(2, 90, 0), step_attempt(3, 90, 0)};
  for (std::size_t k = 0; k < attempts.size(); ++k) attempts[k].key = std::to_string(k);
  const auto first = step_outcome(curriculum, {}, attempts[0], 100.0);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->step, 0u);
  EXPECT_EQ(first->missed, std::vector<std::string>{"Errors: 2; at most 1 is required."});
  EXPECT_FALSE(first->completed);
  EXPECT_TRUE(first->unlocked.empty());
  const auto second = step_outcome(curriculum, {attempts[0]}, attempts[1], 100.0);
  EXPECT_TRUE(second->missed.empty());
  EXPECT_FALSE(second->completed);
  EXPECT_EQ(second->after.progress[0].in_a_row, 1);
  const auto third = step_outcome(curriculum, attempts, attempts[2], 100.0);  // among the others, too
  EXPECT_TRUE(third->completed);
  EXPECT_EQ(third->unlocked, std::vector<std::size_t>{1});
  EXPECT_EQ(third->after.next, 1u);
  EXPECT_EQ(steps_passed(third->after), 1u);
}

TEST(LabCourse, AnAttemptOfNoStepHasNoOutcome) {
  const Curriculum curriculum = parse_curriculum(kTwoSteps, "c.toml");
  EXPECT_FALSE(step_outcome(curriculum, {}, step_attempt(1, 90, 0, 3), 100.0));
  EXPECT_FALSE(step_outcome({}, {}, step_attempt(1, 90, 0), 100.0));
}

TEST(LabCourse, ARefresherThatIsDueIsDoneWithOnePass) {
  const Curriculum curriculum = parse_curriculum(
      "title = \"T\"\n[[step]]\nname = \"a\"\nscene = \"x.toml\"\nrefresher_days = 1\nin_a_row = 2\n", "c.toml");
  std::vector<LabAttempt> attempts = {step_attempt(1, 90, 0), step_attempt(2, 90, 0), step_attempt(2e5, 90, 0)};
  for (std::size_t k = 0; k < attempts.size(); ++k) attempts[k].key = std::to_string(k);
  const auto outcome = step_outcome(curriculum, {attempts[0], attempts[1]}, attempts[2], 2.1e5);
  EXPECT_TRUE(outcome->refreshed);
  EXPECT_FALSE(outcome->completed);
}

TEST(LabCourse, CriteriaAndLocksAreSentences) {
  const CourseView view = course_view(parse_curriculum(kTwoSteps, "c.toml"), {}, 100.0);
  EXPECT_EQ(criteria_text(view.curriculum.steps[0]), "at least 80 points, errors at most 1, no critical error");
  EXPECT_EQ(needs_text(view, 1), "First, level 1");
  EXPECT_EQ(needs_text(view, 0), "");
  EXPECT_EQ(passes_text(view.curriculum.steps[0], view.progress[0]), "0 of 2 in a row");
}

TEST(LabCourse, TheReadyMadeCurriculumIsShownForANewPerson) {
  const CourseView view = course_view(load_curriculum(data_file("curricula/basic.toml")), {}, 1.8e9);
  EXPECT_EQ(view.next, 0u);
  EXPECT_TRUE(view.latest_missed.empty());
}

// Tests trocar lab thresholds: from recordings and from people in the database; the printed TOML is read back as a
// curriculum and as a scene's task.

class LabThresholdsProgram : public LabUser {
 protected:
  Outcome thresholds(const std::string& arguments) { return lab("thresholds " + arguments); }
  void keep(const std::string& person, double started, double score, const std::string& ending = "done") const {
    LabAttempt attempt;
    attempt.key = new_attempt_key();
    attempt.person = person, attempt.scene = "burn_line", attempt.title = "Burn", attempt.started = started;
    attempt.score = score, attempt.ending = ending;
    attempt.metrics = {{"task.task_time", 10.0 + started}, {"task.task_peak_force", 1.0}, {"whole.peak_force", 9.0}};
    LabStation({at("data") + "/trocar/lab.sqlite", at("data") + "/trocar/waiting", at("config") + "/trocar/lab.toml"})
        .keep(attempt);
  }
};

TEST_F(LabThresholdsProgram, OfPeopleInTheDatabase) {
  expect_sentence("thresholds", "needs either recordings of experts");
  expect_sentence("thresholds --person zoe", "needs either recordings of experts");
  expect_sentence("thresholds --person zoe --task burn_line", "no person has the id 'zoe'");
  for (int k = 1; k <= 3; ++k) keep("zoe", k, 90.0 + k), keep("li", k, 96.0);
  keep("li", 4, 20.0, "not done");
  expect_sentence("thresholds --person zoe --task burn_line --level 2", "have no attempt at burn_line, level 2");
  expect_sentence("thresholds x.h5 --person zoe", "not both");
  expect_sentence("thresholds --person zoe --task burn_line --last 1", "1 of 1 attempts is finished");
  const Outcome both = thresholds("--person zoe li --task burn_line");
  ASSERT_EQ(both.status, 0) << both.err;
  EXPECT_NE(both.out.find("# burn_line, level 1: 6 attempts of 2 people; 1 not finished"), std::string::npos)
      << both.out;
  EXPECT_NE(both.out.find("least_score = 94\n"), std::string::npos) << both.out;  // (91 + 92 + 93 + 3 * 96) / 6
  const Curriculum course = parse_curriculum("title = \"T\"\n" + both.out.substr(0, both.out.find("# Keys")), "c.toml");
  ASSERT_EQ(course.steps.size(), 1u);
  EXPECT_EQ(course.steps[0].pass.least_score, 94.0);
  ASSERT_EQ(course.steps[0].pass.limits.size(), 2u);
  EXPECT_EQ(course.steps[0].pass.limits[0].metric, "task_time");
  EXPECT_EQ(course.steps[0].pass.limits[0].value, 12.0);
  const Outcome median = thresholds("--person zoe --task burn_line --rule median");
  EXPECT_NE(median.out.find("least_score = 92\n"), std::string::npos) << median.out;
}

TEST_F(LabThresholdsProgram, OfRecordingsAndTheirTomlIsAWholeFile) {
  const Outcome made = run("perform " + data("scenes/tasks/navigate_camera.toml") +
                           " --as expert --backend scan --seed 1 -o " + at("s1.h5"));
  ASSERT_EQ(made.status, 0) << made.err;
  std::filesystem::copy_file(at("s1.h5"), at("s2.h5"));
  const Outcome found = thresholds(at("s1.h5") + " " + at("s2.h5"));
  ASSERT_EQ(found.status, 0) << found.err;
  EXPECT_NE(found.out.find("2 of these attempts are by a scripted trainee"), std::string::npos) << found.out;
  // The scope touches nothing: no force is allowed to a pass, and the scene's key, which must be positive, is left out.
  EXPECT_NE(found.out.find("metric = \"task_peak_force\"\nvalue = 0\n"), std::string::npos) << found.out;
  TomlTable whole = TomlTable::parse("t.toml", found.out);
  EXPECT_EQ(whole.tables("step").size(), 1u);
  EXPECT_NE(found.out.find("[task]\ntime_good_s = "), std::string::npos) << found.out;
  EXPECT_EQ(found.out.find("most_force_n"), std::string::npos) << found.out;
  expect_sentence("thresholds " + at("s1.h5"), "1 of 1 attempts is finished");
  expect_sentence("thresholds " + mesh_, "m.obj");
}

// Tests the desk of a station: who is logged in, a first login, progress from the database and from what waits here,
// and a database that does not answer.

constexpr const char* kOneStep = "title = \"T\"\n[[step]]\nname = \"a\"\nscene = \"x.toml\"\nin_a_row = 2\n";

class LabDeskTest : public ::testing::Test {
 protected:
  LabStation station(const std::string& database = {}) const {
    return LabStation({folder_.path() / "lab.sqlite", folder_.path() / "waiting", folder_.path() / "lab.toml"},
                      database);
  }
  static LabAttempt pass(const std::string& person, double started) {
    LabAttempt attempt;
    attempt.key = new_attempt_key();
    attempt.person = person, attempt.scene = "x", attempt.started = started, attempt.score = 90.0;
    attempt.ending = "done";
    return attempt;
  }
  static void wait(LabDesk& desk) {
    while (desk.asking()) {
      desk.step();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  TemporaryFolder folder_;
};

TEST_F(LabDeskTest, WithoutAPersonThereIsNoProgress) {
  const LabStation station = this->station();
  LabDesk desk(station, parse_curriculum(kOneStep, "c.toml"));
  desk.step();
  EXPECT_FALSE(desk.view());
  desk.log_in("", false);
  wait(desk);
  EXPECT_FALSE(desk.view());
  EXPECT_TRUE(desk.people().empty());
  EXPECT_EQ(desk.why(), "");
}

TEST_F(LabDeskTest, TheFirstLoginAddsThePersonAndTypingDoesNot) {
  const LabStation station = this->station();
  LabDesk desk(station, parse_curriculum(kOneStep, "c.toml"));
  desk.log_in("zo", false);
  wait(desk);
  ASSERT_TRUE(desk.view());
  EXPECT_FALSE(desk.known());
  EXPECT_TRUE(station.open_to_read().people().empty());
  desk.log_in("zoe", true);
  EXPECT_FALSE(desk.view());
  wait(desk);
  EXPECT_TRUE(desk.known());
  EXPECT_EQ(desk.people(), std::vector<std::string>{"zoe"});
  EXPECT_TRUE(station.open_to_read().person("zoe"));
}

TEST_F(LabDeskTest, TheLastOneWhoLogsInCounts) {
  const LabStation station = this->station();
  LabDesk desk(station, parse_curriculum(kOneStep, "c.toml"));
  desk.log_in("zoe", false);
  desk.log_in("li", true);  // before the answer for zoe
  wait(desk);
  EXPECT_EQ(desk.person(), "li");
  EXPECT_TRUE(desk.known());
  EXPECT_TRUE(station.open_to_read().person("li"));
  EXPECT_FALSE(station.open_to_read().person("zoe"));
}

TEST_F(LabDeskTest, ProgressCountsTheDatabaseAndWhatWaitsOnce) {
  const LabStation station = this->station();
  const LabAttempt entered = pass("zoe", 1.0);
  station.open_to_write().add_attempt(entered);
  station.keep(entered);  // not removed yet
  station.keep(pass("li", 1.0));
  LabDesk desk(station, parse_curriculum(kOneStep, "c.toml"));
  desk.log_in("zoe", false);
  wait(desk);
  ASSERT_TRUE(desk.view());
  EXPECT_EQ(desk.view()->progress[0].in_a_row, 1);
  station.keep(pass("zoe", 2.0));
  desk.refresh();
  wait(desk);
  EXPECT_EQ(desk.view()->progress[0].state, StepState::Passed);
}

TEST_F(LabDeskTest, ADatabaseThatDoesNotAnswerTakesNothingAway) {
  station().open_to_write().add_attempt(pass("zoe", 1.0));
  LabStation station = this->station();
  LabDesk desk(station, parse_curriculum(kOneStep, "c.toml"));
  desk.log_in("zoe", false);
  wait(desk);
  station = this->station("postgresql://user@127.0.0.1:1/none");
  station.keep(pass("zoe", 2.0));
  desk.refresh();
  wait(desk);
  EXPECT_NE(desk.why(), "");
  EXPECT_EQ(desk.view()->progress[0].state, StepState::Passed);
  LabDesk fresh(station, parse_curriculum(kOneStep, "c.toml"));
  fresh.log_in("zoe", true);
  wait(fresh);
  EXPECT_EQ(fresh.view()->progress[0].in_a_row, 1);  // only what waits here is known
}

}  // namespace
}  // namespace trocar
