#include "tests/app/postgres_server.hpp"

#include <soci/postgresql/soci-postgresql.h>
#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace trocar::test {
namespace {

const std::filesystem::path kPrograms = "/usr/lib/postgresql/15/bin";

// PostgreSQL refuses to run as root.
std::string as_user(const std::string& command) {
  if (geteuid() != 0) return command;
  return "setpriv --reuid=postgres --regid=postgres --clear-groups -- " + command;
}

}  // namespace

bool PostgresServer::available() {
  return std::filesystem::exists(kPrograms / "initdb") &&
         (geteuid() != 0 || std::system("id postgres >/dev/null 2>&1") == 0);
}

PostgresServer& PostgresServer::shared() {
  static PostgresServer server;
  return server;
}

PostgresServer::PostgresServer() {
  char name[] = "/tmp/trocar_pg_XXXXXX";  // a socket's path has at most 107 characters
  if (!mkdtemp(name)) throw std::runtime_error("no temporary folder for PostgreSQL");
  folder_ = name;
  if (geteuid() == 0) run("chown postgres " + folder_.string());
  run(as_user((kPrograms / "initdb").string() + " -D " + (folder_ / "data").string() +
              " -U lab --auth=trust --no-sync -E UTF8 --locale=C.UTF-8"));
  start();
}

PostgresServer::~PostgresServer() {
  if (running_) stop();
  std::filesystem::remove_all(folder_);
}

void PostgresServer::run(const std::string& command) const {
  const std::string log = (folder_ / "log").string();
  if (std::system((command + " >>" + log + " 2>&1").c_str()) != 0)
    throw std::runtime_error("failed: " + command + "; see " + log);
}

void PostgresServer::start() {
  run(as_user((kPrograms / "pg_ctl").string() + " -D " + (folder_ / "data").string() + " -w -l " +
              (folder_ / "data" / "server.log").string() + " -o \"-c listen_addresses='' -c fsync=off -k " +
              folder_.string() + "\" start"));
  running_ = true;
}

void PostgresServer::stop() {
  run(as_user((kPrograms / "pg_ctl").string() + " -D " + (folder_ / "data").string() + " -w -m immediate stop"));
  running_ = false;
}

std::string PostgresServer::address(const std::string& database) const {
  std::string host;
  for (const char letter : folder_.string()) host += letter == '/' ? std::string("%2F") : std::string(1, letter);
  return "postgresql://lab@" + host + "/" + database;
}

void PostgresServer::make_database(const std::string& name) { execute("postgres", "CREATE DATABASE " + name); }

void PostgresServer::execute(const std::string& database, const std::string& statement) {
  soci::session(soci::postgresql, "host=" + folder_.string() + " user=lab dbname=" + database) << statement;
}

void execute_sqlite(const std::string& file, const std::string& statement) {
  soci::session(soci::sqlite3, "db=\"" + file + "\"") << statement;
}

}  // namespace trocar::test
