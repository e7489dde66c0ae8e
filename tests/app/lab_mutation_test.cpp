// Reads 300 damaged databases in every way that a command reads one: each reading ends within seconds, with an answer
// or a sentence, and changes nothing. The seed is printed; TROCAR_SEED sets it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>

#include "app/lab/lab_attempt.hpp"
#include "app/lab/lab_course.hpp"
#include "app/lab/lab_tables.hpp"
#include "tests/app/postgres_server.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

using Dice = std::mt19937;

constexpr int kMutations = 300;
constexpr unsigned kLongestSeconds = 5;

LabAttempt mutation_attempt(int k) {
  LabAttempt attempt;
  attempt.key = new_attempt_key();
  attempt.person = k % 3 ? "ann" : "ben", attempt.scene = k % 2 ? "burn_line" : "touch_targets", attempt.title = "T";
  attempt.kind = "touch-targets", attempt.ending = "done", attempt.devices = "mouse", attempt.station = "here";
  attempt.started = 1000.0 * k, attempt.seconds = 60, attempt.score = k % 100, attempt.version = "1";
  attempt.metrics = {{"task.task_time", 60.0 + k}, {"whole.path_length", 0.5}};
  return attempt;
}

int pick(Dice& dice, std::size_t count) { return static_cast<int>(dice() % std::max<std::size_t>(count, 1)); }

std::string flipped(std::string bytes, Dice& dice) {
  const int first = pick(dice, 4) == 0 ? 0 : 100;
  for (int k = 1 + pick(dice, 40); k > 0; --k)
    bytes[static_cast<std::size_t>(first + pick(dice, bytes.size() - 100))] = static_cast<char>(dice());
  return bytes;
}

std::string cut_short(std::string bytes, Dice& dice) {
  bytes.resize(static_cast<std::size_t>(pick(dice, bytes.size())));
  return bytes;
}

std::string page_replaced(std::string bytes, Dice& dice) {
  constexpr std::size_t kPage = 4096;
  const std::size_t pages = bytes.size() / kPage;
  const auto from = static_cast<std::size_t>(pick(dice, pages)), to = static_cast<std::size_t>(pick(dice, pages));
  bytes.replace(to * kPage, kPage, bytes.substr(from * kPage, kPage));
  return bytes;
}

// Statements that a program without respect for our types may execute.
std::string damaging_statement(Dice& dice) {
  const std::string values[] = {"NULL", "'x'",     "x'00ff'",          "1e999",        "-1",     "9223372036854775807",
                                "''",   "'a/b'",   "'[[[['",           "'{\"a\":{}}'", "'=1+1'", "'{\"a\":1e999}'",
                                "'.'",  "char(0)", "zeroblob(100000)", "'\xff\xfe'"};
  const std::string attempt_columns[] = {"key",      "person",  "station",   "scene",   "title",   "level",
                                         "kind",     "ending",  "devices",   "started", "seconds", "score",
                                         "critical", "version", "recording", "metrics"};
  const std::string& value = values[pick(dice, std::size(values))];
  switch (pick(dice, 8)) {
    case 0:
      return "UPDATE OR REPLACE person SET id = " + value + " WHERE id = 'ann'";
    case 1:
      return "UPDATE OR IGNORE person SET name = " + value + ", added = " + value;
    case 2:
      return "UPDATE OR IGNORE standing SET best = " + value + ", attempts = " + value;
    case 3:
      return "DROP TABLE " + std::string(pick(dice, 2) ? "standing" : "lab_version");
    case 4:
      return "UPDATE lab_version SET version = " + values[pick(dice, 6)];
    default:
      return "UPDATE OR IGNORE attempt SET " + attempt_columns[pick(dice, std::size(attempt_columns))] + " = " + value +
             " WHERE rowid % 3 = " + std::to_string(pick(dice, 3));
  }
}

std::string schema_statement(Dice& dice) {
  const std::string statements[] = {
      "ALTER TABLE attempt DROP COLUMN title",
      "ALTER TABLE person RENAME TO people",
      "CREATE VIEW more AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x FROM r) SELECT * FROM r",
      "CREATE TRIGGER t AFTER INSERT ON person BEGIN DELETE FROM attempt; END",
      "CREATE TABLE other (x)",
      "PRAGMA application_id = 7",
      "PRAGMA user_version = 7",
      "DELETE FROM lab_version",
      "CREATE TABLE a2 AS SELECT * FROM attempt",
      "PRAGMA auto_vacuum = 1"};
  return statements[pick(dice, std::size(statements))];
}

void read_in_every_way(const std::string& file, const std::string& new_file) {
  const std::function<void()> ways[] = {
      [&] {
        LabDatabase lab(file, LabUse::Read);
        people_table(lab.people());
        lab.counts();
      },
      [&] {
        LabDatabase lab(file, LabUse::Read);
        lab.person("ann");
        standings_table(lab.standings("ann", "")), attempts_table(lab.attempts({.person = "ann"}));
      },
      [&] {
        LabDatabase lab(file, LabUse::Read);
        std::string table;
        lab.for_each([](const Person&) {}, [&](const LabAttempt& attempt) { table += attempt_csv_row(attempt); });
      },
      [&] {  // restore and backup
        std::vector<LabAttempt> attempts;
        LabDatabase from(file, LabUse::Read), to(new_file, LabUse::Fill);
        from.for_each([&](const Person& person) { to.add_if_new(person); },
                      [&](const LabAttempt& attempt) { attempts.push_back(attempt); });
        to.add_attempts(attempts);
      },
      [&] {
        LabDatabase lab(file, LabUse::Read);
        const auto attempts = lab.attempts({.person = "ann", .most = 1000000});
        course_table(course_view(load_curriculum(repository_file("data") / "curricula/basic.toml"), attempts, 1e9));
        std::vector<ExpertAttempt> experts;
        for (const LabAttempt& attempt : lab.attempts({.scene = "burn_line", .most = 1000}))
          experts.push_back(expert_attempt_of(attempt));
        if (!experts.empty()) thresholds_toml(expert_thresholds(experts, ExpertRule::Median));
      }};
  for (const auto& way : ways) try {
      way();
    } catch (const std::runtime_error&) {
      // a sentence
    }
}

TEST(LabMutation, DamagedDatabasesAreReadWithoutACrashOrAHang) {
  const char* given = std::getenv("TROCAR_SEED");
  const auto seed = given ? static_cast<std::uint32_t>(std::strtoul(given, nullptr, 10)) : std::random_device{}();
  std::printf("seed %u\n", seed);
  Dice dice(seed);
  const TemporaryFolder folder;
  const std::string sound = (folder.path() / "sound.sqlite").string(), file = (folder.path() / "m.sqlite").string();
  {
    std::vector<LabAttempt> attempts;
    for (int k = 0; k < 60; ++k) attempts.push_back(mutation_attempt(k));
    LabDatabase(sound).add_attempts(attempts);
  }
  const std::string bytes = read_file(sound);
  for (int k = 0; k < kMutations; ++k) {
    std::filesystem::remove(file);
    std::string what;
    if (k == 0) {
      folder.write("m.sqlite", "");
    } else if (k % 4 == 0) {
      folder.write("m.sqlite", flipped(bytes, dice));
    } else if (k % 8 == 1) {
      folder.write("m.sqlite", cut_short(bytes, dice));
    } else if (k % 8 == 5) {
      folder.write("m.sqlite", page_replaced(bytes, dice));
    } else {
      folder.write("m.sqlite", bytes);
      for (int n = 1 + pick(dice, 3); n > 0; --n) {
        const std::string statement = pick(dice, 4) ? damaging_statement(dice) : schema_statement(dice);
        what += statement + "; ";
        try {
          test::execute_sqlite(file, statement);
        } catch (const std::exception&) {
          // an earlier statement took its table
        }
      }
      for (const char* ending : {"-wal", "-shm"}) std::filesystem::remove(file + ending);
    }
    const std::string before = read_file(file);
    const pid_t child = fork();
    if (child == 0) {
      alarm(kLongestSeconds);
      read_in_every_way(file, folder.write("new" + std::to_string(k), "").string());
      _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << "seed " << seed << ", mutation " << k << ", status " << status << ": " << what;
    EXPECT_EQ(read_file(file) == before, true) << "seed " << seed << ", mutation " << k << " was changed: " << what;
  }
}

}  // namespace
}  // namespace trocar
