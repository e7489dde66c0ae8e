// Tests what the lab keeps of an attempt, which recording is its own, the address of the database, and the tables.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <ctime>
#include <fstream>
#include <random>
#include <set>

#include "app/lab/lab_address.hpp"
#include "app/lab/lab_attempt.hpp"
#include "app/lab/lab_tables.hpp"
#include "geometry/error.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/hdf5/recording_layout.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/support/process.hpp"
#include "tests/app/recorded_attempt.hpp"
#include "tests/app/run_program.hpp"
#include "tests/sim/task/task_support.hpp"

namespace trocar {
namespace {

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

}  // namespace
}  // namespace trocar
