// Tests that no wait of the lab is without limit: a table that another program locks, a server that is frozen, a file
// that another program writes.
#include <signal.h>
#include <soci/postgresql/soci-postgresql.h>
#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>
#include <unistd.h>

#include <chrono>

#include "app/lab/lab_database.hpp"
#include "tests/app/postgres_server.hpp"
#include "tests/app/run_program.hpp"

namespace trocar {
namespace {

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

}  // namespace
}  // namespace trocar
