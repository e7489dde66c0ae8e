// Tests the lab's database, the limits of its waits, and its pages.
#include <gtest/gtest.h>
#include <signal.h>
#include <soci/postgresql/soci-postgresql.h>
#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <random>
#include <thread>

#include "app/lab/lab_database.hpp"
#include "app/lab/lab_server.hpp"
#include "tests/app/postgres_server.hpp"
#include "tests/app/run_program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

// Tests the lab's database with SQLite and, where its programs are installed, with a PostgreSQL server of the test's
// own: people, attempts in any order, standings against a slow twin, deletion, two stations at once, other versions.

enum class Engine { Sqlite, Postgresql };

class LabDatabaseTest : public ::testing::TestWithParam<Engine> {
 protected:
  void SetUp() override {
    if (GetParam() == Engine::Sqlite) return;
    if (!test::PostgresServer::available())
      GTEST_SKIP() << "PostgreSQL 15 is not installed, or root has no user postgres to run it";
    test::PostgresServer::shared().make_database(database_);
  }
  std::string address() const {
    return GetParam() == Engine::Sqlite ? (folder_.path() / "lab.sqlite").string()
                                        : test::PostgresServer::shared().address(database_);
  }

  // Past the program's own code.
  void execute(const std::string& statement) {
    if (GetParam() == Engine::Sqlite)
      test::execute_sqlite(address(), statement);
    else
      test::PostgresServer::shared().execute(database_, statement);
  }

  TemporaryFolder folder_;
  std::string database_ = "lab_" + std::to_string(getpid()) + "_" + std::to_string(++made_);
  static inline int made_ = 0;
};

LabAttempt made_attempt(const std::string& person, const std::string& scene, double started,
                        std::optional<double> score) {
  LabAttempt attempt;
  attempt.key = new_attempt_key();
  attempt.person = person, attempt.scene = scene, attempt.title = "A title", attempt.station = "here";
  attempt.kind = score ? "touch-targets" : "", attempt.ending = "done", attempt.devices = "mouse, script";
  attempt.started = started, attempt.seconds = 61.25, attempt.score = score, attempt.version = "1";
  attempt.recording = "/r/" + attempt.key + ".h5";
  attempt.metrics = {{"task.task_time", 61.25}, {"left.path_length", 0.1 + 0.2}};
  return attempt;
}

void expect_same(const LabAttempt& a, const LabAttempt& b) { EXPECT_EQ(lab_attempt_json(a), lab_attempt_json(b)); }

TEST_P(LabDatabaseTest, KeepsPeopleAndAttemptsToTheBit) {
  const LabAttempt first = made_attempt("Zoë", "burn_line", 1000.5, 71.0 / 3.0);
  {
    LabDatabase lab(address());
    EXPECT_EQ(lab.counts().people, 0u);
    lab.add_person({"Zoë", "宮本 茂", 5.0});
    EXPECT_THROW(lab.add_person({"Zoë", "", 5.0}), InputError);
    EXPECT_THROW(lab.add_person({"a\nb", "", 5.0}), InputError);
    EXPECT_TRUE(lab.add_attempt(first));
    EXPECT_FALSE(lab.add_attempt(first));  // handed in twice
  }
  LabDatabase lab(address());
  EXPECT_EQ(lab.person("Zoë")->name, "宮本 茂");
  EXPECT_FALSE(lab.person("Zoe"));
  const auto found = lab.attempts({.person = "Zoë"});
  ASSERT_EQ(found.size(), 1u);
  expect_same(found[0], first);
  expect_same(*lab.attempt(first.key), first);
  EXPECT_FALSE(lab.attempt("none"));
  ASSERT_EQ(lab.people().size(), 1u);
  EXPECT_EQ(lab.people()[0].attempts, 1u);
  EXPECT_EQ(lab.people({.part = "本"}).size(), 1u);
  EXPECT_EQ(lab.people({.part = "%"}).size(), 0u);
}

TEST_P(LabDatabaseTest, AnAttemptOfAnUnknownPersonAddsThePerson) {
  LabDatabase lab(address());
  EXPECT_TRUE(lab.add_attempt(made_attempt("new", "burn_line", 7.0, {})));
  EXPECT_EQ(lab.person("new")->added, 7.0);
  EXPECT_FALSE(lab.attempts()[0].score);
}

// The standing is kept up to date by every change; here it is computed again from all attempts.
TEST_P(LabDatabaseTest, StandingsAgreeWithAllAttempts) {
  const std::uint32_t seed = std::random_device{}();
  std::mt19937 dice(seed);
  const auto pick = [&](int count) { return static_cast<int>(dice() % static_cast<unsigned>(count)); };
  LabDatabase lab(address());
  std::map<std::string, LabAttempt> all;
  for (int k = 0; k < 150; ++k) {
    if (pick(5) == 0 && !all.empty()) {
      const auto gone = std::next(all.begin(), pick(static_cast<int>(all.size())));
      lab.delete_attempt(gone->first);
      all.erase(gone);
      continue;
    }
    LabAttempt one =
        made_attempt(std::string(1, static_cast<char>('a' + pick(3))), pick(2) ? "x" : "y",
                     k == 0 ? 0.0 : pick(1000) + 1e-3 * k, pick(4) ? std::optional<double>(pick(100)) : std::nullopt);
    one.level = 1 + pick(2);
    lab.add_attempt(one);
    all[one.key] = one;
  }
  std::map<std::tuple<std::string, std::string, int>, Standing> expected;
  for (const auto& [key, a] : all) {
    Standing& s = expected[{a.person, a.scene, a.level}];
    ++s.attempts;
    if (a.score && (!s.best || *a.score > *s.best)) s.best = a.score;
    if (s.attempts == 1 || a.started > s.last_started) s.last = a.score, s.last_started = a.started;
  }
  const auto found = lab.standings("", "");
  ASSERT_EQ(found.size(), expected.size()) << "seed " << seed;
  for (const Standing& s : found) {
    const Standing& e = expected.at({s.person, s.scene, s.level});
    EXPECT_EQ(s.attempts, e.attempts) << "seed " << seed;
    EXPECT_EQ(s.best, e.best) << "seed " << seed;
    EXPECT_EQ(s.last, e.last) << "seed " << seed;
    EXPECT_EQ(s.last_started, e.last_started) << "seed " << seed;
  }
  EXPECT_EQ(lab.counts().attempts, all.size());
  EXPECT_EQ(lab.attempts({.most = 1000}).size(), all.size());
  for (const PersonSummary& one : lab.people()) {
    std::uint64_t attempts = 0;
    double latest = 0.0;
    for (const auto& [key, a] : all)
      if (a.person == one.person.id) ++attempts, latest = std::max(latest, a.started);
    EXPECT_EQ(one.attempts, attempts) << "seed " << seed;
    EXPECT_EQ(one.last_started, latest) << "seed " << seed;
  }
}

TEST_P(LabDatabaseTest, QueriesFilterSortAndPage) {
  LabDatabase lab(address());
  for (int k = 0; k < 10; ++k) lab.add_attempt(made_attempt(k % 2 ? "odd" : "even", k < 5 ? "x" : "y", k, k));
  EXPECT_EQ(lab.attempts({.person = "odd"}).size(), 5u);
  EXPECT_EQ(lab.attempts({.person = "odd", .scene = "x"}).size(), 2u);
  EXPECT_EQ(lab.attempts({.scene = "y", .level = 2}).size(), 0u);
  const auto page = lab.attempts({.most = 3, .skip = 2});
  ASSERT_EQ(page.size(), 3u);
  EXPECT_EQ(page[0].started, 7.0);
  EXPECT_EQ(page[2].started, 5.0);
  EXPECT_EQ(lab.people({.order = PersonOrder::LastAttempt})[0].person.id, "odd");
  EXPECT_EQ(lab.people({.most = 1, .skip = 1})[0].person.id, "odd");
  EXPECT_EQ(lab.standings("odd", "x").size(), 1u);
}

TEST_P(LabDatabaseTest, ErasingAPersonLeavesNothing) {
  LabDatabase lab(address());
  lab.add_attempt(made_attempt("a", "x", 1, 1));
  lab.add_attempt(made_attempt("a", "y", 2, 1));
  lab.add_attempt(made_attempt("b", "x", 3, 1));
  EXPECT_EQ(lab.erase_person("a").size(), 2u);
  EXPECT_THROW(lab.erase_person("a"), InputError);
  EXPECT_FALSE(lab.person("a"));
  EXPECT_TRUE(lab.attempts({.person = "a"}).empty());
  EXPECT_TRUE(lab.standings("a", "").empty());
  EXPECT_EQ(lab.counts().attempts, 1u);
}

TEST_P(LabDatabaseTest, StationsWriteAtTheSameTime) {
  { const LabDatabase made(address()); }
  constexpr int kStations = 4, kAttempts = 25;
  std::vector<pid_t> children;
  for (int station = 0; station < kStations; ++station) {
    const pid_t child = fork();
    if (child == 0) {
      int status = 1;
      try {
        LabDatabase lab(address());
        for (int k = 0; k < kAttempts; ++k) lab.add_attempt(made_attempt("same", "x", k, k));
        status = 0;
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
      }
      _exit(status);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  LabDatabase lab(address());
  EXPECT_EQ(lab.counts().attempts, std::uint64_t{kStations} * kAttempts);
  EXPECT_EQ(lab.attempts({.most = 1000}).size(), std::size_t{kStations} * kAttempts);
}

// What was added is there, and nothing in part, at whatever moment the program was killed.
TEST_P(LabDatabaseTest, AKilledProgramLosesNoAttemptThatWasAdded) {
  { const LabDatabase made(address()); }
  for (int round = 0; round < 5; ++round) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      LabDatabase lab(address());
      for (int k = 0;; ++k) {
        lab.add_attempt(made_attempt("round" + std::to_string(round), "x", k, k));
        const char done = 1;
        if (write(pipe_ends[1], &done, 1) != 1) _exit(1);
      }
    }
    close(pipe_ends[1]);
    std::uint64_t told = 0;
    char one;
    while (told < 10u + 7u * static_cast<unsigned>(round) && read(pipe_ends[0], &one, 1) == 1) ++told;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    while (read(pipe_ends[0], &one, 1) == 1) ++told;
    close(pipe_ends[0]);
    LabDatabase lab(address());
    const std::string person = "round" + std::to_string(round);
    const auto kept = lab.attempts({.person = person, .most = 1000000});
    EXPECT_GE(kept.size(), told);
    EXPECT_LE(kept.size(), told + 1);
    ASSERT_EQ(lab.standings(person, "x").size(), 1u);
    EXPECT_EQ(lab.standings(person, "x")[0].attempts, kept.size());
  }
}

TEST_P(LabDatabaseTest, ALaterVersionIsRefusedAndUnchanged) {
  { LabDatabase(address()).add_person({"a", "", 1.0}); }
  execute("INSERT INTO lab_version (version) VALUES (99)");
  try {
    LabDatabase lab(address());
    ADD_FAILURE() << "not refused";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("later version of Trocar"), std::string::npos) << error.what();
  }
  execute("DELETE FROM lab_version WHERE version = 99");
  EXPECT_TRUE(LabDatabase(address()).person("a"));
}

INSTANTIATE_TEST_SUITE_P(Engines, LabDatabaseTest, ::testing::Values(Engine::Sqlite, Engine::Postgresql),
                         [](const auto& info) {
                           return std::string(info.param == Engine::Sqlite ? "Sqlite" : "Postgresql");
                         });

TEST(LabAddress, OtherFilesAndAddressesAreRefused) {
  const TemporaryFolder folder;
  const auto text = folder.write("notes.txt", std::string(5000, 'x'));
  EXPECT_THROW(LabDatabase(text.string()), InputError);
  for (const char* address : {"mysql://a/b", "postgresql://a:b c@h/d", "postgresql://h/d?fly=1", "postgresql://%zz/d"})
    EXPECT_THROW(LabDatabase{address}, InputError) << address;
  EXPECT_THROW(LabDatabase(""), InputError);
  EXPECT_THROW(LabDatabase((folder.path() / "a\"b").string()), InputError);
  try {
    const LabDatabase unreachable("postgresql://user:secret@127.0.0.1:1/none");
    ADD_FAILURE() << "there is no server on port 1";
  } catch (const LabUnreachable& error) {
    EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos) << error.what();
  }
}

// Tests that no wait of the lab is without limit: a table that another program locks, a server that is frozen, a file
// that another program writes.

using namespace std::chrono_literals;

class LabWaiting : public Program {
 protected:
  // Runs a command that must end by itself before this limit.
  Outcome lab(const std::string& arguments, const char* limit = "9") {
    const std::string at = folder_.path().string();
    return run("lab " + arguments, std::string("timeout ") + limit + " env XDG_DATA_HOME=" + at +
                                       "/data XDG_CONFIG_HOME=" + at + "/config");
  }
  static std::string connection(const std::string& name) {
    const std::string address = test::PostgresServer::shared().address(name);
    std::string host = address.substr(address.find('@') + 1);
    host.resize(host.find("/lab"));
    for (std::size_t at = host.find("%2F"); at != std::string::npos; at = host.find("%2F")) host.replace(at, 3, "/");
    return "host=" + host + " user=lab dbname=" + name;
  }
  std::string new_database() {
    const std::string name = "lab_waiting_" + std::to_string(getpid()) + "_" + std::to_string(++made_);
    test::PostgresServer::shared().make_database(name);
    LabAttempt attempt;
    attempt.key = new_attempt_key(), attempt.person = "zoe", attempt.scene = "x", attempt.started = 1;
    LabDatabase(test::PostgresServer::shared().address(name)).add_attempt(attempt);
    return name;
  }
  static inline int made_ = 0;
};

TEST_F(LabWaiting, ALockedTableIsGivenUp) {
  if (!test::PostgresServer::available()) GTEST_SKIP() << "PostgreSQL 15 is not installed";
  const std::string name = new_database(), address = test::PostgresServer::shared().address(name);
  soci::session other(soci::postgresql, connection(name));
  other << "BEGIN";
  other << "LOCK TABLE attempt";
  for (const std::string& arguments : {"--database " + address + " show zoe", "--database " + address + " erase zoe"}) {
    const Outcome outcome = lab(arguments);
    EXPECT_EQ(outcome.status, 1) << arguments << outcome.err;
    EXPECT_NE(outcome.err.find("another program keeps the database busy"), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(lab("--database " + address + " list").status, 0) << "what needs no locked table still works";
  other << "ROLLBACK";
  EXPECT_EQ(lab("--database " + address + " show zoe").status, 0);
}

TEST_F(LabWaiting, AFrozenServerIsGivenUp) {
  if (!test::PostgresServer::available()) GTEST_SKIP() << "PostgreSQL 15 is not installed";
  const std::string name = new_database();
  LabDatabase lab(test::PostgresServer::shared().address(name), LabUse::Write, {.silence = 1s});
  soci::session other(soci::postgresql, connection(name));
  int process = 0;
  other << "SELECT pid FROM pg_stat_activity WHERE datname = '" + name +
               "' AND pid <> pg_backend_pid() AND backend_type = 'client backend'",
      soci::into(process);
  ASSERT_GT(process, 1);
  ASSERT_EQ(kill(process, SIGSTOP), 0);
  const auto begin = std::chrono::steady_clock::now();
  try {
    lab.people();
    ADD_FAILURE() << "a frozen server has answered";
  } catch (const LabUnreachable& error) {
    EXPECT_NE(std::string(error.what()).find("does not answer: nothing for 1 s"), std::string::npos) << error.what();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  EXPECT_THROW(lab.counts(), LabUnreachable) << "the connection was lost";
  kill(process, SIGCONT);
}

TEST_F(LabWaiting, ARoleThatMayOnlyReadCanList) {
  if (!test::PostgresServer::available()) GTEST_SKIP() << "PostgreSQL 15 is not installed";
  const std::string name = new_database(), role = name + "_reader";
  auto& server = test::PostgresServer::shared();
  server.execute(name, "CREATE ROLE " + role + " LOGIN");
  server.execute(name, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + role);
  std::string address = server.address(name);
  address.replace(address.find("lab@"), 4, role + "@");
  const Outcome list = lab("--database " + address + " list");
  EXPECT_EQ(list.status, 0) << list.err;
  EXPECT_NE(list.out.find("zoe"), std::string::npos) << list.out;
  EXPECT_EQ(lab("--database " + address + " export -o " + (folder_.path() / "x.csv").string()).status, 0);
  const Outcome add = lab("--database " + address + " add eve");
  EXPECT_EQ(add.status, 1) << add.err;
  EXPECT_NE(add.err.find("has no permission"), std::string::npos) << add.err;
}

TEST_F(LabWaiting, AServerWithoutTablesIsNotChangedByAReader) {
  if (!test::PostgresServer::available()) GTEST_SKIP() << "PostgreSQL 15 is not installed";
  const std::string name = "lab_waiting_empty_" + std::to_string(getpid());
  test::PostgresServer::shared().make_database(name);
  const Outcome list = lab("--database " + test::PostgresServer::shared().address(name) + " list");
  EXPECT_EQ(list.status, 2) << list.out;
  EXPECT_NE(list.err.find("has no tables of Trocar yet"), std::string::npos) << list.err;
}

TEST_F(LabWaiting, AllRowsOfAServerArriveInPortions) {
  if (!test::PostgresServer::available()) GTEST_SKIP() << "PostgreSQL 15 is not installed";
  const std::string name = new_database();
  LabDatabase lab(test::PostgresServer::shared().address(name));
  std::vector<LabAttempt> attempts(2500);
  for (LabAttempt& attempt : attempts)
    attempt.key = new_attempt_key(), attempt.person = "zoe", attempt.scene = "x", attempt.started = 2;
  lab.add_attempts(attempts);
  std::size_t people = 0, read = 0;
  lab.for_each([&](const Person&) { ++people; }, [&](const LabAttempt&) { ++read; });
  EXPECT_EQ(people, 1u);
  EXPECT_EQ(read, 2501u);
}

TEST_F(LabWaiting, AWriterOfAFileIsWaitedForWithALimit) {
  const std::string file = (folder_.path() / "x.sqlite").string();
  { const LabDatabase made(file); }
  soci::session other(soci::sqlite3, "db=\"" + file + "\"");
  other << "BEGIN IMMEDIATE";
  LabDatabase lab(file, LabUse::Write, {.busy = 200ms});
  try {
    lab.add_person({"zoe", "", 1});
    ADD_FAILURE() << "two writers at once";
  } catch (const LabUnreachable& error) {
    EXPECT_NE(std::string(error.what()).find("another program keeps this database busy"), std::string::npos)
        << error.what();
  }
  other << "ROLLBACK";
  lab.add_person({"zoe", "", 1});
}

// Tests the pages of the lab: every text from the database is escaped, and empty databases give whole pages.

constexpr const char* kAttack = "<script>alert('1')</script>&\"";

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

void expect_whole(const std::string& page) {
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(page.ends_with("</main></body></html>\n"));
  EXPECT_EQ(page.find("<script"), std::string::npos);
  for (const char* element : {"table", "section", "tr", "td", "th", "main", "svg", "h1", "p", "form"})
    EXPECT_EQ(count_of(page, std::string("<") + element + ">") + count_of(page, std::string("<") + element + " "),
              count_of(page, std::string("</") + element + ">"))
        << element;
}

TEST(LabPage, EmptyPagesAreWhole) {
  expect_whole(cohort_page({}));
  expect_whole(person_page({}));
  expect_whole(failure_page(404, kAttack));
}

TEST(LabPage, TextsOfTheDatabaseAreEscaped) {
  LabAttempt attempt;
  attempt.scene = attempt.title = attempt.ending = attempt.devices = kAttack, attempt.score = 50.0;
  const Standing standing{kAttack, kAttack, 1, 1, 50.0, 50.0, 0.0};
  expect_whole(cohort_page({{{{kAttack, kAttack, 0.0}, 1, 1, 0.0}}, {standing}, kAttack, 1, true, {1, 1}}));
  expect_whole(person_page({{kAttack, kAttack, 0.0}, {standing}, {attempt}, kAttack, 1}));
}

TEST(LabPage, TheCurveHasAPointForEachScoredAttempt) {
  std::vector<LabAttempt> attempts(5);
  EXPECT_EQ(score_curve(attempts), "");
  for (int k = 0; k < 4; ++k) attempts[static_cast<std::size_t>(k)].score = 40.0 * k;  // 120 is drawn at 100
  const std::string curve = score_curve(attempts);
  EXPECT_EQ(count_of(curve, "<circle"), 4u);
  EXPECT_EQ(count_of(curve, "cy=\"10.0\""), 1u);
  EXPECT_EQ(count_of(curve, "cy=\"190.0\""), 1u);
  attempts.resize(1);
  EXPECT_EQ(count_of(score_curve(attempts), "<circle"), 1u);
}

TEST(LabPage, ThePersonsCurveIsThatOfTheNewestTask) {
  LabAttempt newest, older;
  newest.scene = "burn_line", newest.score = 60.0, older.scene = "keep_out", older.score = 30.0;
  const std::string page = person_page({{"a", "", 0.0}, {}, {newest, older}, "", 1});
  EXPECT_NE(page.find("Scores: burn line"), std::string::npos);
  EXPECT_EQ(count_of(page, "<circle"), 1u);
  EXPECT_NE(person_page({{"a", "", 0.0}, {}, {newest, older}, "keep_out", 1}).find("Scores: keep out"),
            std::string::npos);
}

}  // namespace
}  // namespace trocar
