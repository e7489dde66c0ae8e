// Tests the lab's database and files, whole and damaged.
#include <signal.h>
#include <soci/postgresql/soci-postgresql.h>
#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "app/lab/lab_attempt.hpp"
#include "app/lab/lab_course.hpp"
#include "app/lab/lab_database.hpp"
#include "app/lab/lab_server.hpp"
#include "app/lab/lab_station.hpp"
#include "app/lab/lab_tables.hpp"
#include "tests/app/lab_support.hpp"
#include "tests/app/run_program.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {
namespace {

// Tests the lab's database, the limits of its waits, and its pages.

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

TEST_P(LabDatabaseTest, CommentsStayWithTheirAttempt) {
  LabDatabase lab(address());
  const LabAttempt one = made_attempt("zoe", "burn_line", 1.0, 50.0), two = made_attempt("li", "burn_line", 2.0, 60.0);
  lab.add_attempts(std::vector{one, two});
  EXPECT_TRUE(lab.comments_of("zoe").empty());
  LabComment first = made_comment(one.key, "Anna", "  Slower at the turn.\r\nUse both hands: <b>\"é\"</b> \n");
  first.written = 7.0 / 3.0;
  EXPECT_EQ(first.text, "Slower at the turn.\nUse both hands: <b>\"é\"</b>");
  EXPECT_EQ(lab.add_comments({&first, 1}), 1u);
  EXPECT_EQ(lab.add_comments({&first, 1}), 0u);  // restored twice
  lab.add_comments(std::vector{made_comment(two.key, "zoe", "Good."), made_comment(two.key, "Anna", "Better.")});
  ASSERT_EQ(lab.comments_of("zoe").size(), 1u);
  const LabComment found = lab.comments_of("zoe")[0];
  EXPECT_EQ(found.key, first.key);
  EXPECT_EQ(found.attempt, one.key);
  EXPECT_EQ(found.author, "Anna");
  EXPECT_EQ(found.written, 7.0 / 3.0);
  EXPECT_EQ(found.text, first.text);
  std::size_t all = 0;
  lab.for_each([](const Person&) {}, [](const LabAttempt&) {}, [&](const LabComment&) { ++all; });
  EXPECT_EQ(all, 3u);

  EXPECT_THROW(lab.add_comments(std::vector{made_comment("none", "Anna", "x")}), InputError);
  EXPECT_THROW(lab.add_comments(std::vector{made_comment(one.key, "Anna", "kept?"), made_comment("none", "a", "x")}),
               InputError);
  EXPECT_EQ(lab.comments_of("zoe").size(), 1u);  // both or none

  // Who is erased wrote nothing; the attempts that are erased take their comments with them.
  lab.erase_person("zoe");
  const auto left = lab.comments_of("li");
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].author + left[1].author, "Anna");
  lab.delete_attempt(two.key);
  EXPECT_TRUE(lab.comments_of("li").empty());
  EXPECT_EQ(lab.counts().attempts, 0u);
}

// A reader takes the tables of version 1 as they are; a writer adds the table of the comments.
TEST_P(LabDatabaseTest, ADatabaseOfVersion1IsReadAndUpgraded) {
  const LabAttempt one = made_attempt("zoe", "burn_line", 1.0, 50.0);
  { LabDatabase(address()).add_attempt(one); }
  execute("DROP TABLE comment");
  execute("DELETE FROM lab_version WHERE version > 1");
  {
    LabDatabase reader(address(), LabUse::Read);
    EXPECT_EQ(reader.version(), 1);
    EXPECT_EQ(reader.attempts().size(), 1u);
    EXPECT_TRUE(reader.comments_of("zoe").empty());
    reader.for_each([](const Person&) {}, [](const LabAttempt&) {}, [](const LabComment&) { ADD_FAILURE(); });
  }
  EXPECT_EQ(LabDatabase(address(), LabUse::Read).version(), 1) << "a reader changes nothing";
  LabDatabase lab(address(), LabUse::Write);
  EXPECT_EQ(lab.version(), 2);
  EXPECT_EQ(lab.add_comments(std::vector{made_comment(one.key, "Anna", "Good.")}), 1u);
  EXPECT_EQ(LabDatabase(address(), LabUse::Read).comments_of("zoe").size(), 1u);
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

TEST(LabComment, WhatIsNoTextOfAPersonIsOneSentence) {
  const auto fault = [](const std::string& author, const std::string& text) -> std::string {
    try {
      made_comment("key", author, text);
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(fault("Anna", " \r\n\t "), "the comment is empty; write what the trainee shall read");
  EXPECT_EQ(fault("Anna", std::string(10000, 'x')), "the comment has 10000 characters; write at most 4000");
  std::string accents;
  for (std::size_t k = 0; k < kLongestComment; ++k) accents += "é";
  EXPECT_EQ(fault("Anna", accents), "");
  EXPECT_EQ(fault("Anna", accents + "e"), "the comment has 4001 characters; write at most 4000");
  for (const char* text : {"a\x1b[31m", "\xff\xfe", "a\x7f"})
    EXPECT_EQ(fault("Anna", text), "the comment is not text; leave out control characters");
  EXPECT_EQ(fault("Anna", std::string("a\0b", 3)), "the comment is not text; leave out control characters");
  EXPECT_NE(fault("", "x").find("the author '' cannot be used"), std::string::npos);
  EXPECT_NE(fault("a\nb", "x").find("cannot be used"), std::string::npos);
}

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
  expect_whole(attempt_page({}));
  expect_whole(failure_page(404, kAttack));
}

TEST(LabPage, TextsOfTheDatabaseAreEscaped) {
  LabAttempt attempt;
  attempt.scene = attempt.title = attempt.ending = attempt.devices = kAttack, attempt.score = 50.0;
  const Standing standing{kAttack, kAttack, 1, 1, 50.0, 50.0, 0.0};
  expect_whole(cohort_page({{{{kAttack, kAttack, 0.0}, 1, 1, 0.0}}, {standing}, kAttack, 1, true, {1, 1}}));
  LabCurve curve = lab_curve("", std::vector{attempt}, "", {});
  curve.metric = kAttack;
  attempt.key = kAttack;
  const std::vector<LabComment> comments{{"key", kAttack, kAttack, 0.0, kAttack}};
  expect_whole(person_page({{kAttack, kAttack, 0.0}, {standing}, {attempt}, comments, kAttack, 1, curve, {kAttack}}));
  for (const char* token : {"", kAttack}) {
    const std::string page = attempt_page({attempt, comments, token});
    expect_whole(page);
    EXPECT_EQ(page.find("<form") != std::string::npos, *token != '\0');
  }
}

Curriculum two_steps() {
  Curriculum curriculum;
  curriculum.title = "Basics";
  for (const char* scene : {"touch_targets", "burn_line"}) {
    CourseStep step;
    step.name = step.title = scene, step.scene = scene, step.pass.least_score = 70.0;
    curriculum.steps.push_back(step);
  }
  return curriculum;
}

LabAttempt tried(const char* scene, double started, double score, double lost_percent = 0.0) {
  LabAttempt attempt;
  attempt.scene = scene, attempt.ending = "done", attempt.started = started, attempt.seconds = 60.0;
  attempt.score = score, attempt.metrics["whole.lost_share"] = lost_percent;
  return attempt;
}

constexpr double kNow = 1.8e9;

TEST(LabDay, TellsWhoIsStuckWhereAndWhomAMachineSlowedDown) {
  const Person zoe{"zoe", "", 0.0};
  // Passed the first step long ago; the newest is first.
  std::vector<LabAttempt> attempts{tried("touch_targets", kNow - 20 * kDay, 90.0)};
  for (int k = 0; k < kStuckAfter - 1; ++k)
    attempts.insert(attempts.begin(), tried("burn_line", kNow - 3 * kDay + k, 40.0));
  attempts.insert(attempts.begin(), tried("burn_line", kNow - 2 * kDay, 95.0, 50.0));
  DayRow row = day_row(zoe, attempts, two_steps(), kNow);
  EXPECT_EQ(row.in_a_week, static_cast<std::size_t>(kStuckAfter));
  EXPECT_EQ(row.in_a_day, 0u);
  EXPECT_EQ(row.slow, 1u);
  EXPECT_EQ(row.steps, 1u);
  EXPECT_EQ(row.step, 1u);
  EXPECT_EQ(row.without_pass, kStuckAfter - 1);  // practice is no attempt
  EXPECT_FALSE(row.stuck());
  attempts.insert(attempts.begin(), tried("burn_line", kNow - 60.0, 69.0));
  row = day_row(zoe, attempts, two_steps(), kNow);
  EXPECT_TRUE(row.stuck());
  EXPECT_EQ(row.in_a_day, 1u);
  EXPECT_EQ(row.missed.size(), 1u);
  attempts.insert(attempts.begin(), tried("burn_line", kNow - 30.0, 71.0));
  row = day_row(zoe, attempts, two_steps(), kNow);
  EXPECT_FALSE(row.step);
  EXPECT_FALSE(row.stuck());
}

// Who tries a later step again and again is stuck there, not at the next one.
TEST(LabDay, ShowsTheStepWithTheMostAttemptsWithoutAPass) {
  std::vector<LabAttempt> attempts;
  for (int k = 0; k < kStuckAfter; ++k) attempts.push_back(tried("burn_line", kNow - 100.0 * k, 40.0));
  attempts.push_back(tried("touch_targets", kNow - kDay, 30.0));
  const DayRow row = day_row({"zoe", "", 0.0}, attempts, two_steps(), kNow);
  EXPECT_TRUE(row.stuck());
  EXPECT_EQ(row.step, 1u);
  EXPECT_EQ(row.without_pass, kStuckAfter);
  attempts.erase(attempts.begin());
  EXPECT_EQ(day_row({"zoe", "", 0.0}, attempts, two_steps(), kNow).step, 0u);
}

TEST(LabDay, ShowsThoseOfTheLastWeekTheLatestFirst) {
  const TemporaryFolder folder;
  LabDatabase lab((folder.path() / "lab.sqlite").string());
  int number = 0;
  for (const auto& [person, days] : {std::pair{"zoe", 2.0}, {"li", 1.0}, {"old", 8.0}}) {
    LabAttempt attempt = tried("burn_line", kNow - days * kDay, 50.0);
    attempt.key = std::string(31, '0') + std::to_string(++number), attempt.person = person, attempt.station = "here";
    lab.add_attempt(attempt);
  }
  const DayRows day = day_rows(lab, two_steps(), kNow, 10);
  ASSERT_EQ(day.rows.size(), 2u);
  EXPECT_EQ(day.rows[0].person.id, "li");
  EXPECT_EQ(day.rows[1].person.id, "zoe");
  EXPECT_FALSE(day.more);
  EXPECT_TRUE(day_rows(lab, two_steps(), kNow, 1).more);
}

TEST(LabPage, TheDayAndTheRecordAreWholeAndEscaped) {
  expect_whole(day_page({}, {}, kNow));
  expect_whole(record_page({}, {}, {}, {}, kNow));
  LabAttempt attempt = tried(kAttack, kNow - 60.0, 30.0, 10.0);
  Curriculum curriculum = two_steps();
  curriculum.title = curriculum.steps[0].title = kAttack;
  const Person person{kAttack, kAttack, 0.0};
  const std::string page =
      day_page({{day_row(person, std::vector{attempt}, curriculum, kNow)}, true}, curriculum, kNow);
  expect_whole(page);
  EXPECT_NE(page.find("24 hours: 1 person. 7 days: 1 or more."), std::string::npos);
  attempt.key = "k";
  const std::vector<LabComment> comments{{"c1", "k", "Anna", kNow, kAttack}, {"c2", "of another", "Anna", kNow, "x"}};
  const std::string record =
      record_page(person, course_view(curriculum, {attempt}, kNow), std::vector{attempt}, comments, kNow);
  expect_whole(record);
  EXPECT_EQ(count_of(record, "class=\"comment\""), 1u);
  EXPECT_NE(record.find("0 of 2 steps are passed."), std::string::npos);
  const std::vector<LabAttempt> passes{tried("touch_targets", kNow - 60.0, 80.0),
                                       tried("burn_line", kNow - 50.0, 80.0)};
  EXPECT_NE(
      record_page(person, course_view(two_steps(), passes, kNow), passes, {}, kNow).find("All 2 steps are passed."),
      std::string::npos);
}

TEST(LabPage, TheCurveHasAPointForEachScoredAttempt) {
  std::vector<LabAttempt> attempts(5);
  const auto drawn = [&] { return curve_drawing(lab_curve("", attempts, "", {})); };
  EXPECT_EQ(drawn(), "");
  for (int k = 0; k < 4; ++k) attempts[static_cast<std::size_t>(k)].score = 40.0 * k;  // 120 is drawn at 100
  const std::string curve = drawn();
  EXPECT_EQ(count_of(curve, "<circle"), 4u);
  EXPECT_EQ(count_of(curve, "cy=\"26.0\""), 1u);
  EXPECT_EQ(count_of(curve, "cy=\"200.0\""), 1u);
  attempts.resize(1);
  EXPECT_EQ(count_of(drawn(), "<circle"), 1u);
}

TEST(LabCurve, HasThePassLineAndTheMiddleHalfOfTheOthers) {
  Curriculum curriculum = two_steps();
  curriculum.steps[1].pass.limits.push_back({"task_time", 60.0, true});
  std::vector<LabAttempt> all;
  for (const auto& [person, first] : {std::pair{"zoe", 10.0}, {"a", 20.0}, {"b", 40.0}, {"c", 60.0}, {"d", 80.0}})
    for (int k = 0; k < (person == std::string("a") ? 1 : 2); ++k) {
      all.insert(all.begin(), tried("burn_line", kNow + k, first + k));  // the newest is first
      all.front().person = person, all.front().metrics["task.task_time"] = 100.0 - first;
    }
  const LabCurve score = lab_curve("zoe", all, "", curriculum);
  EXPECT_EQ(score.values, (std::vector<double>{10.0, 11.0}));
  ASSERT_EQ(score.peers.size(), 2u);
  EXPECT_DOUBLE_EQ(score.peers[0].low, 35.0);
  EXPECT_DOUBLE_EQ(score.peers[0].high, 65.0);
  EXPECT_DOUBLE_EQ(score.peers[1].low, 51.0);  // of b, c and d
  EXPECT_EQ(score.pass->value, 70.0);
  EXPECT_FALSE(score.pass->at_most);
  const LabCurve time = lab_curve("zoe", all, "task.task_time", curriculum);
  EXPECT_EQ(time.values, (std::vector<double>{90.0, 90.0}));
  EXPECT_EQ(time.pass->value, 60.0);
  EXPECT_TRUE(time.pass->at_most);
  EXPECT_NE(curve_drawing(time).find("pass: at most 60"), std::string::npos);
  EXPECT_NE(curve_drawing(time).find("<polygon"), std::string::npos);
  // Two others could be told apart.
  std::erase_if(all, [](const LabAttempt& attempt) { return attempt.person == "c" || attempt.person == "d"; });
  EXPECT_TRUE(lab_curve("zoe", all, "", curriculum).peers.empty());
  EXPECT_EQ(metrics_of(all), (std::vector<std::string>{"task.task_time", "whole.lost_share"}));
  EXPECT_EQ(metric_title("task.task_time"), "time");
}

TEST(LabPage, ThePersonsPageNamesTaskAndMetric) {
  PersonPage page{{"a", "", 0.0}, {}, {}, {}, "burn_line", 2, {}, {"task.task_time"}};
  EXPECT_NE(person_page(page).find("burn line, level 2: score"), std::string::npos);
  EXPECT_NE(person_page(page).find("metric=task.task_time"), std::string::npos);
  page.curve.metric = "task.task_time";
  EXPECT_NE(person_page(page).find("burn line, level 2: time"), std::string::npos);
}

// Tests what the lab does with files, whole and damaged.

// Tests what trocar lab does with files: reading leaves no trace, other programs' files stay as they are, backups are
// whole or absent, rows that cannot be read are named, and everything that names people is private.

namespace fs = std::filesystem;

class LabFiles : public LabUser {
 protected:
  std::string database() const { return at("data/trocar/lab.sqlite"); }

  static LabAttempt attempt(const std::string& person, double started, double score) {
    LabAttempt attempt;
    attempt.key = new_attempt_key();
    attempt.person = person, attempt.scene = "burn_line", attempt.title = "Burn", attempt.started = started;
    attempt.score = score, attempt.ending = "done", attempt.metrics = {{"task.task_time", started}};
    return attempt;
  }
  // A database with these attempts of ann and ben in turn.
  void fill(const std::string& file, int attempts) const {
    fs::create_directories(fs::path(file).parent_path());
    std::vector<LabAttempt> all;
    for (int k = 0; k < attempts; ++k) all.push_back(attempt(k % 2 ? "ben" : "ann", k, k % 100));
    LabDatabase(file).add_attempts(all);
  }
  // The content of all files of a folder.
  static std::map<std::string, std::string> content(const fs::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      files[entry.path().string()] = entry.is_regular_file() ? read_file(entry.path()) : "";
    return files;
  }
  static unsigned mode_of(const std::string& file) {
    struct stat status {};
    return stat(file.c_str(), &status) == 0 ? status.st_mode & 07777u : 0u;
  }
};

TEST_F(LabFiles, OtherProgramsFilesStayAsTheyAre) {
  fs::create_directory(at("foreign"));
  test::execute_sqlite(at("foreign/bookmarks.sqlite"), "CREATE TABLE bookmark (url TEXT)");
  test::execute_sqlite(at("foreign/wal.sqlite"), "PRAGMA journal_mode = WAL");
  test::execute_sqlite(at("foreign/wal.sqlite"), "CREATE TABLE moz (url TEXT)");
  test::execute_sqlite(at("foreign/person.sqlite"), "CREATE TABLE person (id TEXT)");
  test::execute_sqlite(at("foreign/marked.sqlite"), "PRAGMA application_id = 252006674");
  test::execute_sqlite(at("foreign/marked.sqlite"), "CREATE TABLE x (id TEXT)");
  folder_.write("foreign/empty.sqlite", "");
  folder_.write("foreign/short.sqlite", "SQLite format 3");
  folder_.write("foreign/text.sqlite", std::string(5000, 'x'));
  ASSERT_EQ(lab("add zoe").status, 0);
  const auto before = content(at("foreign"));
  for (const char* name : {"bookmarks", "wal", "person", "marked", "empty", "short", "text"})
    for (const char* command : {"restore F", "--database F list", "--database F add eve", "--database F",
                                "--database F export -o x.csv", "--database F backup -o x.sqlite"}) {
      std::string arguments = command;
      arguments.replace(arguments.find('F'), 1, at(std::string("foreign/") + name + ".sqlite"));
      expect_sentence(arguments, "not a database of Trocar");
    }
  EXPECT_EQ(content(at("foreign")), before);
}

TEST_F(LabFiles, AMistypedPathMakesNothing) {
  for (const char* command : {"list", "show zoe", "export -o x.csv", "backup -o y.sqlite", "serve --port 0"}) {
    expect_sentence("--database " + at("mistyped/x.sqlite") + " " + command, "there is no such database");
    expect_sentence("--database " + at("x.sqlite") + " " + command, "there is no such database");
  }
  expect_sentence("restore " + at("x.sqlite"), "there is no such");
  expect_sentence("--database " + at("mistyped/x.sqlite") + " add zoe", "cannot be written; check the folder");
  EXPECT_FALSE(fs::exists(at("mistyped")));
  EXPECT_FALSE(fs::exists(at("x.sqlite")));
  EXPECT_EQ(lab("list").out, "no people\n");
  EXPECT_FALSE(fs::exists(database()));
  EXPECT_EQ(lab("--database " + at("x.sqlite") + " add zoe").status, 0);
  EXPECT_TRUE(fs::exists(at("x.sqlite")));
}

TEST_F(LabFiles, ADatabaseWhoseDiskIsAwayIsNotMadeAgain) {
  fs::create_directory(at("disk"));
  ASSERT_EQ(lab("--database " + at("disk/lab.sqlite")).status, 0);
  fs::rename(at("disk/lab.sqlite"), at("lab.away"));
  expect_sentence("add zoe", "there is no such database");
  EXPECT_FALSE(fs::exists(at("disk/lab.sqlite")));
}

TEST_F(LabFiles, NamesThatAreNoFilesAreRefused) {
  for (const char* name : {"sqlite:", "sqlite::memory:", ":memory:", "file::memory:", "file:x?mode=memory"})
    expect_sentence(std::string("--database '") + name + "' list", "not the name");
  for (const char* command : {"list", ""}) {
    const Outcome outcome = run("lab --database $(printf '" + at("bad") + "\\377.sqlite') " + command, lab_folders());
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err.find("json"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("UTF-8"), std::string::npos) << outcome.err;
  }
  EXPECT_FALSE(fs::exists(at("bad\xff.sqlite")));
  EXPECT_FALSE(fs::exists(at("config/trocar/lab.toml")));
}

// Whatever the moment, the name of a backup belongs to a whole one or to nothing.
TEST_F(LabFiles, AStoppedBackupLeavesNothingUnderItsName) {
  constexpr int kAttempts = 4000;
  fill(database(), kAttempts);
  for (const int signal_number : {SIGKILL, SIGTERM})
    for (const int milliseconds : {20, 60, 120, 200, 300, 450}) {
      const std::string out = at("b" + std::to_string(signal_number) + "_" + std::to_string(milliseconds) + ".sqlite");
      run("lab backup -o " + out, "timeout -s " + std::to_string(signal_number) + " " +
                                      std::to_string(milliseconds / 1000.0) + " env " + lab_folders());
      if (fs::exists(out)) {
        EXPECT_EQ(LabDatabase(out, LabUse::Read).counts().attempts, std::uint64_t{kAttempts}) << milliseconds;
        EXPECT_FALSE(fs::exists(out + "-wal"));
      }
    }
  EXPECT_EQ(lab("backup -o " + at("whole.sqlite")).status, 0);
  EXPECT_EQ(LabDatabase(at("whole.sqlite"), LabUse::Read).counts().attempts, std::uint64_t{kAttempts});
}

TEST_F(LabFiles, ABackupOnAFullDiskLeavesNothing) {
  fill(database(), 3000);
  const Outcome full = run("lab backup -o " + at("full.sqlite"), "ulimit -f 256; " + lab_folders());
  EXPECT_EQ(full.status, 1) << full.err;
  EXPECT_NE(full.err.find("is the disk full?"), std::string::npos) << full.err;
  EXPECT_FALSE(fs::exists(at("full.sqlite")));
  expect_no_partial_file();
  EXPECT_EQ(lab("backup -o " + at("full.sqlite")).status, 0) << "the name is free";
}

TEST_F(LabFiles, RowsThatCannotBeReadAreNamedAndLeftOut) {
  LabAttempt bad = attempt("ann", 5, 50), null = attempt("ann", 6, 50), typed = attempt("ben", 7, 50);
  fill(database(), 20);
  LabDatabase(database()).add_attempts(std::vector{bad, null, typed, attempt("cid", 8, 50)});
  for (const std::string& statement : {"UPDATE attempt SET metrics = 'x' WHERE key = '" + bad.key + "'",
                                       "UPDATE attempt SET started = 'soon' WHERE key = '" + null.key + "'",
                                       "UPDATE attempt SET title = x'ff00' WHERE key = '" + typed.key + "'",
                                       std::string("INSERT INTO person (id, name, added) VALUES ('a/b', '', 1)"),
                                       std::string("UPDATE attempt SET person = 'a/b' WHERE person = 'cid'"),
                                       std::string("UPDATE standing SET best = 'x' WHERE person = 'cid'")})
    test::execute_sqlite(database(), statement);
  struct Case {
    std::string arguments;
    std::vector<std::string> named;
  };
  const std::vector<Case> cases = {{"export -o " + at("all.csv"), {bad.key, null.key, typed.key, "a/b", "ann", "ben"}},
                                   {"backup -o " + at("b.sqlite"), {bad.key, null.key, typed.key, "a/b"}},
                                   {"course ann", {bad.key, null.key}},
                                   {"show ann", {bad.key, null.key}},
                                   {"thresholds --person ann ben --task burn_line", {bad.key, null.key, typed.key}},
                                   {"compare ann ben --task burn_line", {bad.key, typed.key}},
                                   {"list", {"a/b"}}};
  for (const Case& one : cases) {
    const Outcome outcome = lab(one.arguments);
    EXPECT_EQ(outcome.status, 1) << one.arguments << outcome.err;
    for (const std::string& name : one.named)
      EXPECT_NE(outcome.err.find(name), std::string::npos) << one.arguments << ": " << outcome.err;
    EXPECT_FALSE(outcome.out.empty()) << one.arguments;
  }
  const std::string table = read_file(at("all.csv"));
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 1 + 20);
  LabDatabase copy(at("b.sqlite"), LabUse::Read);
  EXPECT_EQ(copy.counts().attempts, 20u);
  EXPECT_TRUE(copy.person("cid"));
  EXPECT_FALSE(copy.person("a/b"));
  EXPECT_EQ(lab("delete " + bad.key).status, 0);
  EXPECT_EQ(lab("erase a/b").status, 0);
  // A source with damaged rows gives the others.
  const Outcome restored =
      run("lab restore " + database(), "XDG_DATA_HOME=" + at("new") + " XDG_CONFIG_HOME=" + at("c"));
  EXPECT_EQ(restored.status, 1) << restored.err;
  EXPECT_NE(restored.out.find("20 attempts"), std::string::npos) << restored.out;
}

TEST_F(LabFiles, WhatNamesPeopleIsPrivate) {
  const mode_t old = umask(0);
  ASSERT_EQ(lab("add zoe").status, 0);
  LabStation({database(), at("data/trocar/waiting"), at("config/trocar/lab.toml")}).keep(attempt("zoe", 1, 2));
  ASSERT_EQ(lab("list").status, 0);
  ASSERT_EQ(lab("export -o " + at("all.csv")).status, 0);
  ASSERT_EQ(lab("backup -o " + at("b.sqlite")).status, 0);
  ASSERT_EQ(lab("--database " + at("named.sqlite")).status, 0);
  const Outcome made = run("record " + data("scenes/liver_and_stomach.toml") + " --trajectory " + trajectory_ +
                           " --backend scan --person zoe -o " + at("s.h5"));
  EXPECT_EQ(made.status, 0) << made.err;
  ASSERT_EQ(run("export " + at("s.h5") + " --csv " + at("tables")).status, 0);
  ASSERT_EQ(run("report " + at("s.h5") + " -o " + at("s.html")).status, 0);
  umask(old);
  for (const std::string& file : {database(), at("all.csv"), at("b.sqlite"), at("named.sqlite"), at("s.h5"),
                                  at("tables/tools.csv"), at("s.html"), at("config/trocar/lab.toml")})
    EXPECT_EQ(mode_of(file), 0600u) << file;
  for (const std::string& folder : {at("data/trocar"), at("data/trocar/waiting"), at("config/trocar")})
    EXPECT_EQ(mode_of(folder), 0700u) << folder;
}

TEST_F(LabFiles, OlderDatabasesBecomePrivateAndMarked) {
  fill(database(), 2);
  // The tables of version 1 had no mark.
  for (const char* statement : {"DROP TABLE comment", "DELETE FROM lab_version WHERE version > 1",
                                "PRAGMA application_id = 0", "PRAGMA journal_mode = DELETE"})
    test::execute_sqlite(database(), statement);
  ASSERT_EQ(chmod(database().c_str(), 0644), 0);
  ASSERT_EQ(chmod(at("data/trocar").c_str(), 0755), 0);
  const std::string before = read_file(database());
  EXPECT_EQ(lab("list").status, 0);
  EXPECT_EQ(read_file(database()), before) << "a reader changes nothing";
  EXPECT_EQ(mode_of(database()), 0600u);
  EXPECT_EQ(lab("add zoe").status, 0);
  EXPECT_EQ(mode_of(at("data/trocar")), 0700u);
  EXPECT_EQ(read_file(database()).substr(68, 4), "Troc");
  EXPECT_NE(lab("list").out.find("ann"), std::string::npos);
}

// The other user has an id without a name.
TEST_F(LabFiles, AReaderNeedsNoRightToWrite) {
  if (geteuid() != 0) GTEST_SKIP() << "needs two users";
  ASSERT_EQ(chmod(folder_.path().c_str(), 0755), 0);
  fill(at("shared/lab.sqlite"), 4);
  ASSERT_EQ(chmod(at("shared/lab.sqlite").c_str(), 0644), 0);
  ASSERT_EQ(chmod(at("shared").c_str(), 0755), 0);
  const auto as_other = [&](const std::string& arguments) {
    return run("lab --database " + at("shared/lab.sqlite") + " " + arguments,
               "XDG_DATA_HOME=/nonexistent XDG_CONFIG_HOME=/nonexistent setpriv --reuid=65534 --regid=65534 "
               "--clear-groups --");
  };
  if (std::system(("setpriv --reuid=65534 --regid=65534 --clear-groups -- " + std::string(TROCAR_PROGRAM) +
                   " --version >/dev/null 2>&1")
                      .c_str()) != 0)
    GTEST_SKIP() << "another user may not run the program";
  const auto before = content(at("shared"));
  const Outcome list = as_other("list");
  EXPECT_EQ(list.status, 0) << list.err;
  EXPECT_NE(list.out.find("ann"), std::string::npos) << list.out;
  EXPECT_EQ(content(at("shared")), before);
  const Outcome add = as_other("add eve");
  EXPECT_EQ(add.status, 2) << add.err;
  EXPECT_NE(add.err.find("may only read it"), std::string::npos) << add.err;
}

TEST_F(LabFiles, ARestoreChangesNothingOfItsSource) {
  fill(at("source/lab.sqlite"), 30);
  {
    // A copy of a database in use: its latest changes are in the log alone.
    LabDatabase in_use(at("source/lab.sqlite"));
    in_use.add_attempt(attempt("dan", 1, 2));
    fs::create_directory(at("copy"));
    fs::copy_file(at("source/lab.sqlite"), at("copy/lab.sqlite"));
    fs::copy_file(at("source/lab.sqlite-wal"), at("copy/lab.sqlite-wal"));
  }
  for (const char* name : {"source", "copy"}) {
    const auto before = content(at(name));
    const Outcome outcome = run("lab restore " + at(name) + "/lab.sqlite",
                                "XDG_DATA_HOME=" + at(name) + "_data XDG_CONFIG_HOME=" + at("config"));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("3 people and 31 attempts"), std::string::npos) << outcome.out;
    EXPECT_EQ(content(at(name)), before);
  }
}

// Runs on a medium that cannot be written, where this user may mount one.
TEST_F(LabFiles, ReadsFromAMediumThatCannotBeWritten) {
  fill(at("medium/lab.sqlite"), 10);
  LabDatabase in_use(at("medium/lab.sqlite"));
  in_use.add_attempt(attempt("dan", 1, 2));
  fs::create_directory(at("seen"));
  const std::string inside =
      "mount --bind " + at("medium") + " " + at("seen") + " && mount -o remount,ro,bind " + at("seen") + " && ";
  if (std::system(("unshare -m sh -c '" + inside + "true' >/dev/null 2>&1").c_str()) != 0)
    GTEST_SKIP() << "this user may not mount";
  const auto on_medium = [&](const std::string& arguments) {
    return run("lab " + arguments, lab_folders() + " unshare -m sh -c '" + inside + "exec \"$0\" \"$@\"'");
  };
  const Outcome restored = on_medium("restore " + at("seen/lab.sqlite"));
  EXPECT_EQ(restored.status, 0) << restored.err;
  EXPECT_NE(restored.out.find("11 attempts"), std::string::npos) << restored.out;
  EXPECT_EQ(on_medium("--database " + at("seen/lab.sqlite") + " list").status, 0);
  const Outcome add = on_medium("--database " + at("seen/lab.sqlite") + " add eve");
  EXPECT_NE(add.err.find("write-protected"), std::string::npos) << add.err;
}

TEST_F(LabFiles, AReaderDoesNotWaitForAWriter) {
  fill(database(), 4);
  soci::session writer(soci::sqlite3, "db=\"" + database() + "\"");
  writer << "BEGIN IMMEDIATE";
  const auto begin = std::chrono::steady_clock::now();
  for (const std::string& command : {std::string("list"), std::string("show ann"), "backup -o " + at("b.sqlite")})
    EXPECT_EQ(lab(command).status, 0) << command;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(9)) << "three commands; a wait is 10 s";
}

// A library that is loaded before all others stands for a file system without locks.
TEST_F(LabFiles, AFileSystemWithoutLocksIsReadOrNamed) {
#ifdef TROCAR_FILE_CALLS
  fill(database(), 4);
  for (const char* error : {"ENOLCK", "EOPNOTSUPP"}) {
    const std::string without_locks =
        std::string("LD_PRELOAD=") + TROCAR_FILE_CALLS + " TROCAR_TEST_LOCK_ERROR=" + error;
    const auto begin = std::chrono::steady_clock::now();
    const Outcome list = lab("list", without_locks);
    EXPECT_EQ(list.status, 0) << list.err;
    EXPECT_NE(list.out.find("ann"), std::string::npos);
    expect_sentence("add zoe", "its file system has no locks", 2, without_locks);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
  }
#else
  GTEST_SKIP() << "not with sanitizers, which must be loaded first";
#endif
}

// The calls that a command makes, in their order.
TEST_F(LabFiles, DataAreOnTheDiskBeforeTheyHaveTheirName) {
#ifdef TROCAR_FILE_CALLS
  fill(database(), 4);
  for (const std::string& arguments : {"export -o " + at("all.csv"), "backup -o " + at("b.sqlite")}) {
    const std::string calls = at("calls");
    fs::remove(calls);
    const Outcome outcome =
        lab(arguments, std::string("LD_PRELOAD=") + TROCAR_FILE_CALLS + " TROCAR_TEST_CALLS=" + calls);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const std::string text = read_file(calls), out = arguments.substr(arguments.find("/"));
    const std::size_t named = text.find(" " + out + "\n");
    ASSERT_NE(named, std::string::npos) << text;
    const std::size_t line = text.rfind('\n', named) + 1;
    const std::string partial = text.substr(text.find(' ', line) + 1, named - text.find(' ', line) - 1);
    EXPECT_LT(text.find("fsync " + partial), line) << text;
    EXPECT_NE(text.find("fsync " + folder_.path().string() + "\n", named), std::string::npos) << text;
  }
#else
  GTEST_SKIP() << "not with sanitizers, which must be loaded first";
#endif
}

TEST_F(LabFiles, ADamagedFileIsNotAFullDisk) {
  fill(database(), 300);
  std::string bytes = read_file(database());
  for (std::size_t k = 4096; k < bytes.size(); ++k) bytes[k] = static_cast<char>(k * 7);
  folder_.write("damaged.sqlite", bytes);
  for (const char* command : {"list", "export -o x.csv", "add zoe"}) {
    const Outcome outcome = lab("--database " + at("damaged.sqlite") + " " + command);
    EXPECT_NE(outcome.status, 0);
    EXPECT_NE(outcome.err.find("is damaged"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find("full"), std::string::npos) << outcome.err;
  }
}

TEST_F(LabFiles, CellsOfATableAreNoFormulas) {
  LabAttempt one = attempt("=1+1", 1, 2);
  one.station = "-2+3", one.devices = "@SUM(A1)", one.recording = "+x,y", one.scene = "\tx";
  one.metrics = {{"=cmd", -1.5}};
  LabDatabase(at("x.sqlite")).add_attempt(one);
  ASSERT_EQ(lab("--database " + at("x.sqlite") + " export -o " + at("all.csv")).status, 0);
  const std::string table = read_file(at("all.csv"));
  for (const char* cell : {",'=1+1,", ",'-2+3,", ",'@SUM(A1),", ",\"'+x,y\",", ",'\tx,", ",'=cmd,-1.5\n"})
    EXPECT_NE(table.find(cell), std::string::npos) << cell << " in " << table;
}

// Reads 300 damaged databases in every way that a command reads one: each reading ends within seconds, with an answer
// or a sentence, and changes nothing. The seed is printed; TROCAR_SEED sets it.

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
  const std::string comment_columns[] = {"key", "attempt", "author", "written", "text"};
  const auto which = pick(dice, 9);
  if (which == 8)
    return "UPDATE OR IGNORE comment SET " + comment_columns[pick(dice, std::size(comment_columns))] + " = " + value;
  if (which == 0) return "UPDATE OR REPLACE person SET id = " + value + " WHERE id = 'ann'";
  if (which == 1) return "UPDATE OR IGNORE person SET name = " + value + ", added = " + value;
  if (which == 2) return "UPDATE OR IGNORE standing SET best = " + value + ", attempts = " + value;
  if (which == 3) return "DROP TABLE " + std::string(std::array{"standing", "lab_version", "comment"}[pick(dice, 3)]);
  if (which == 4) return "UPDATE lab_version SET version = " + values[pick(dice, 6)];
  return "UPDATE OR IGNORE attempt SET " + attempt_columns[pick(dice, std::size(attempt_columns))] + " = " + value +
         " WHERE rowid % 3 = " + std::to_string(pick(dice, 3));
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
        lab.comments_of("ann");
      },
      [&] {
        LabDatabase lab(file, LabUse::Read);
        std::string table;
        lab.for_each([](const Person&) {}, [&](const LabAttempt& attempt) { table += attempt_csv_row(attempt); });
      },
      [&] {  // restore and backup
        std::vector<LabAttempt> attempts;
        std::vector<LabComment> comments;
        LabDatabase from(file, LabUse::Read), to(new_file, LabUse::Fill);
        from.for_each([&](const Person& person) { to.add_if_new(person); },
                      [&](const LabAttempt& attempt) { attempts.push_back(attempt); },
                      [&](const LabComment& comment) { comments.push_back(comment); });
        to.add_attempts(attempts);
        to.add_comments(comments);
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
    LabDatabase lab(sound);
    lab.add_attempts(attempts);
    lab.add_comments(std::vector{made_comment(attempts[0].key, "ann", "a"), made_comment(attempts[1].key, "ben", "b")});
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
