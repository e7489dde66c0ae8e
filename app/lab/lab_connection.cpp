#include "app/lab/lab_connection.hpp"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <soci/postgresql/soci-postgresql.h>
#include <soci/sqlite3/soci-sqlite3.h>

#include <algorithm>
#include <filesystem>

#include "app/lab/lab_schema.hpp"
#include "geometry/error.hpp"
#include "mesh/whole_file.hpp"

namespace trocar {
namespace {

// The first line of what the server says, without SOCI's introduction and without these values.
std::string reason_of(const soci::soci_error& error, const std::vector<std::string>& secrets) {
  std::string text = error.get_error_message();
  const std::string introduction = "Cannot establish connection to the database.";
  if (text.starts_with(introduction)) text.erase(0, introduction.size());
  text.erase(0, text.find_first_not_of(" \n"));
  text.resize(std::min(text.size(), text.find('\n')));
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  for (const std::string& secret : secrets)
    for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at + 3))
      text.replace(at, secret.size(), "***");
  return printable(without_passwords(text), kLongestText);
}

// SQLSTATE, five characters; empty without one.
std::string state_of(const soci::soci_error& error) {
  const auto* server = dynamic_cast<const soci::postgresql_soci_error*>(&error);
  return server ? server->sqlstate() : std::string();
}

// Makes a new database whole: under its name it has all tables or does not exist.
void make_database(const std::string& path) {
  NewFile file(path);
  { const LabConnection tables(file.path().string(), LabUse::Fill, {}); }
  file.commit();  // false: another program was faster, which is as good
}

}  // namespace

LabConnection::Transaction::Transaction(LabConnection& connection, Kind kind) : sql_(connection.sql_) {
  const bool sqlite = connection.engine() == LabEngine::Sqlite;
  if (kind == Kind::Write)
    sql_ << (sqlite ? "BEGIN IMMEDIATE" : "BEGIN");
  else
    sql_ << (sqlite ? "BEGIN" : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
}

LabConnection::Transaction::~Transaction() {
  if (!open_) return;
  try {
    sql_ << "ROLLBACK";
  } catch (const soci::soci_error&) {
    // The connection is lost, and the transaction with it.
  }
}

void LabConnection::Transaction::commit() {
  sql_ << "COMMIT";
  open_ = false;
}

LabConnection::LabConnection(const std::string& address, LabUse use, const LabPatience& patience)
    : address_(lab_address(address)), use_(use), patience_(patience), shown_(without_password(address_.target)) {
  if (engine() == LabEngine::Sqlite) {
    file_ = std::make_unique<SqliteFile>(address_.target);
    if (use == LabUse::Create && !file_->exists()) make_database(address_.target);
  }
  guarded([&] {
    if (file_)
      open_file();
    else
      open_server();
    version_ = read_version();
    require_version();
    const bool current = version_ == static_cast<int>(lab_migrations().size()) && (!file_ || file_->marked());
    if (use_ != LabUse::Read && !current) upgrade();
  });
}

LabConnection::LabConnection() : use_(LabUse::Read), shown_("the empty database") {
  sql_.open(soci::sqlite3, "db=:memory:");
  upgrade_tables(sql_, 0);
  version_ = read_version();
}

void LabConnection::open_file() {
  if (use_ == LabUse::Fill)
    file_->open_new(sql_);
  else if (use_ == LabUse::Read)
    file_->open_to_read(sql_, patience_.busy);
  else
    file_->open_to_write(sql_, patience_.busy);
}

void LabConnection::open_server() {
  ServerParameters parameters = server_parameters(address_.target);
  secrets_ = std::move(parameters.secrets);
  sql_.open(soci::postgresql, parameters.text);
  // The library does not export the type's information, so this is no dynamic_cast; the line above chose the type.
  const auto* backend = static_cast<const soci::postgresql_session_backend*>(sql_.get_backend());
  watch_.watch(PQsocket(backend->conn_), patience_.silence);
  watch_.restart();
  sql_ << "SET client_min_messages = warning";
  sql_ << fmt::format("SET lock_timeout = {}", patience_.lock.count());
  sql_ << fmt::format("SET statement_timeout = {}", patience_.statement.count());
  if (use_ == LabUse::Read) sql_ << "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY";
}

// Returns 0 when there are no tables yet.
int LabConnection::read_version() {
  int tables = 0;
  if (engine() == LabEngine::Sqlite)
    sql_ << "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'lab_version'", soci::into(tables);
  else
    sql_ << "SELECT CASE WHEN to_regclass('lab_version') IS NULL THEN 0 ELSE 1 END", soci::into(tables);
  if (tables == 0) return 0;
  int version = 0;
  soci::indicator found = soci::i_null;
  sql_ << "SELECT MAX(version) FROM lab_version", soci::into(version, found);
  return found == soci::i_ok ? version : 0;
}

void LabConnection::require_version() const {
  const int newest = static_cast<int>(lab_migrations().size());
  if (version_ < 0) throw InputError(fmt::format("{}: the version of its tables is damaged; restore a backup", shown_));
  if (version_ > newest)
    throw InputError(
        fmt::format("{}: a later version of Trocar made this database (version {} of the tables, this "
                    "program knows {}); install that version here too",
                    shown_, version_, newest));
  if (use_ != LabUse::Read || version_ == newest) return;
  if (version_ == 0)
    throw InputError(fmt::format("{}: has no tables of Trocar yet; trocar lab --database ADDRESS makes them", shown_));
  throw InputError(
      fmt::format("{}: an earlier version of Trocar made this database; open it once with a command that "
                  "writes, such as trocar lab --database ADDRESS, to upgrade it",
                  shown_));
}

void LabConnection::upgrade() {
  changed([&] {
    if (engine() == LabEngine::Postgresql) {
      // Two programs that open a new database at once upgrade it one after the other. A large table takes its time.
      sql_ << "SELECT pg_advisory_xact_lock(7426817)";
      sql_ << "SET LOCAL statement_timeout = 0";
    }
    version_ = read_version();
    require_version();
    if (version_ < static_cast<int>(lab_migrations().size())) {
      watch_.disarm();
      upgrade_tables(sql_, version_);
    }
    version_ = read_version();
    if (file_) file_->mark(sql_);
  });
}

void LabConnection::make_private() const {
  if (file_) file_->make_private();
}

void LabConnection::fail(const soci::soci_error& error) {
  if (file_) file_->fail(error, use_ == LabUse::Read);
  fail_of_server(error);
}

void LabConnection::fail_of_server(const soci::soci_error& error) {
  if (watch_.fired())
    throw LabUnreachable(fmt::format("{}: the database does not answer: nothing for {:.0f} s", shown_,
                                     std::chrono::duration<double>(patience_.silence).count()));
  const std::string reason = reason_of(error, secrets_);
  const std::string state = state_of(error);
  if (state == "55P03" || state == "57014" || state == "40P01")
    throw LabUnreachable(
        fmt::format("{}: another program keeps the database busy; try again later ({})", shown_, reason));
  if (error.get_error_category() == soci::soci_error::connection_error || !sql_.is_connected())
    throw LabUnreachable(fmt::format("{}: the database does not answer: {}", shown_, reason));
  if (state == "42501") throw RunError(fmt::format("{}: this user has no permission for that ({})", shown_, reason));
  if (state == "53100")
    throw RunError(fmt::format("{}: cannot be written; is the disk of the server full? ({})", shown_, reason));
  throw RunError(fmt::format("{}: the database refuses: {}", shown_, reason));
}

}  // namespace trocar
