#include <hdf5.h>
#include <soci/postgresql/soci-postgresql.h>
#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "app/compare/backends.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/loop/session_loop.hpp"
#include "tests/app/lab_support.hpp"

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

std::filesystem::path record_attempt(const Scene& scene, const std::filesystem::path& file, int frames, bool finished,
                                     RunNote run) {
  Backends backends;
  PerformedSession performed(scene, style_of(Skill::Expert), 1, backends, "scan");
  SessionRecorder recorder(recording_file(file), scene, performed.session(), "none", run);
  for (int frame = 0; frame < frames; ++frame) {
    performed.step();
    recorder.append(performed.session(), performed.time());
  }
  if (!finished) {
    usleep(700000);  // the writer flushes three times a second
    _exit(0);        // as a kill does
  }
  recorder.close(ending_of(&performed.task()));
  return file;
}

std::filesystem::path record_killed(const Scene& scene, const std::filesystem::path& file, int frames,
                                    const RunNote& run) {
  const pid_t child = fork();
  if (child == 0) record_attempt(scene, file, frames, false, run);
  int status = 0;
  waitpid(child, &status, 0);
  return file;
}

void change_text(const std::filesystem::path& file, const char* name, const std::string& text) {
  const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  if (H5Aexists(id, name) > 0) H5Adelete(id, name);
  if (!text.empty()) {
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, text.size());
    const hid_t attribute = H5Acreate2(id, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, text.c_str());
    H5Aclose(attribute), H5Sclose(space), H5Tclose(type);
  }
  H5Fclose(id);
}

}  // namespace trocar::test
