#include "app/lab/lab_connection.hpp"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <soci/postgresql/soci-postgresql.h>
#include <soci/sqlite3/soci-sqlite3.h>

#include <filesystem>
#include <memory>

#include "app/lab/lab_database.hpp"
#include "app/lab/lab_schema.hpp"
#include "geometry/printable.hpp"

namespace trocar {
namespace {

constexpr std::size_t kLongestReason = 200;  // characters
// A program that writes makes another one wait at most this long.
constexpr const char* kBusyMilliseconds = "PRAGMA busy_timeout = 10000";

// The first line of what the database says, without SOCI's introduction.
std::string reason_of(const soci::soci_error& error) {
  std::string text = error.get_error_message();
  const std::string introduction = "Cannot establish connection to the database.";
  if (text.starts_with(introduction)) text.erase(0, introduction.size());
  text.erase(0, text.find_first_not_of(" \n"));
  // SOCI puts the name of its own function before the message of SQLite.
  if (const auto colon = text.find(": "); text.starts_with("sqlite3_") && colon != std::string::npos)
    text.erase(0, colon + 2);
  text.resize(std::min(text.size(), text.find('\n')));
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return printable(text, kLongestReason);
}

// Quotes a path for SOCI's connection string.
std::string connection_to(const std::string& path) {
  if (path.find('"') != std::string::npos)
    throw InputError(fmt::format("{}: the name of a database must not contain quotes", printable(path)));
  return fmt::format("db=\"{}\"", path);
}

// Returns the parameters of a server's address as "key=value key=value", the only form that SOCI passes on unchanged. A
// server that does not answer is given up after five seconds, unless the address says otherwise.
std::string server_parameters(const std::string& address) {
  using Options = std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;
  char* reason = nullptr;
  const Options options(PQconninfoParse(address.c_str(), &reason), &PQconninfoFree);
  PQfreemem(reason);  // may contain the password
  if (!options)
    throw InputError(fmt::format("{}: is not the address of a server; give postgresql://USER@HOST/NAME",
                                 printable(without_password(address))));
  std::string parameters;
  bool waits = false;
  for (const PQconninfoOption* option = options.get(); option->keyword; ++option) {
    if (!option->val || !*option->val) continue;
    const std::string key = option->keyword, value = option->val;
    if (value.find_first_of(" \t\n\r'\\") != std::string::npos)
      throw InputError(fmt::format("{}: {} has a space, a quote or a backslash, which cannot be passed on{}",
                                   printable(without_password(address)), key,
                                   key == "password" ? "; write the password into ~/.pgpass" : ""));
    waits = waits || key == "connect_timeout";
    parameters += key + "=" + value + " ";
  }
  return waits ? parameters : parameters + "connect_timeout=5";
}

// SQLite reads other names not as paths: an empty one and one that begins with a colon mean a database in memory, which
// ends with the program, "file:" begins an address with options, and a zero ends a name.
bool is_path(const std::string& name) {
  return name.find_first_not_of(" \t") != std::string::npos && !name.starts_with(':') && !name.starts_with("file:") &&
         name.find('\0') == std::string::npos;
}

void make_folder_of(const std::string& file) {
  const auto folder = std::filesystem::path(file).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) throw InputError(fmt::format("{}: the folder cannot be made: {}", folder.string(), error.message()));
}

}  // namespace

std::string without_password(const std::string& address) {
  const std::size_t scheme = address.find("://"), at = address.find('@');
  if (scheme == std::string::npos || at == std::string::npos) return address;
  const std::size_t colon = address.find(':', scheme + 3);
  return colon < at ? address.substr(0, colon) + address.substr(at) : address;
}

LabAddress lab_address(const std::string& text) {
  if (text.starts_with("postgresql://") || text.starts_with("postgres://")) return {LabEngine::Postgresql, text};
  const std::string prefix = "sqlite:", file = text.starts_with(prefix) ? text.substr(prefix.size()) : text;
  if ((file.size() == text.size() && text.find("://") != std::string::npos) || !is_path(file))
    throw InputError(fmt::format("'{}' is not the address of a database; give a file or postgresql://USER@HOST/NAME",
                                 printable(without_password(text))));
  return {LabEngine::Sqlite, file};
}

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

LabConnection::LabConnection(const std::string& address)
    : address_(lab_address(address)), shown_(without_password(address_.target)) {
  guarded([&] {
    open();
    upgrade();
  });
}

void LabConnection::open() {
  if (engine() == LabEngine::Postgresql) {
    sql_.open(soci::postgresql, server_parameters(address_.target));
    sql_ << "SET client_min_messages = warning";
    return;
  }
  make_folder_of(address_.target);
  sql_.open(soci::sqlite3, connection_to(address_.target));
  sql_ << kBusyMilliseconds;
  // A change is on the disk when its transaction ends, also when the machine stops.
  sql_ << "PRAGMA journal_mode = WAL";
  sql_ << "PRAGMA synchronous = FULL";
  sql_ << "PRAGMA foreign_keys = ON";
}

int LabConnection::read_version() {
  sql_ << "CREATE TABLE IF NOT EXISTS lab_version (version INTEGER NOT NULL)";
  int version = 0;
  soci::indicator found = soci::i_null;
  sql_ << "SELECT MAX(version) FROM lab_version", soci::into(version, found);
  return found == soci::i_ok ? version : 0;
}

void LabConnection::upgrade() {
  const auto migrations = lab_migrations();
  const int newest = static_cast<int>(migrations.size());
  changed([&] {
    // Two programs that open a new database at once upgrade it one after the other.
    if (engine() == LabEngine::Postgresql) sql_ << "SELECT pg_advisory_xact_lock(7426817)";
    version_ = read_version();
    if (version_ > newest)
      throw InputError(
          fmt::format("{}: a later version of Trocar made this database (version {} of the tables, this "
                      "program knows {}); install that version here too",
                      shown_, version_, newest));
    for (; version_ < newest; ++version_) {
      for (const char* statement : migrations[static_cast<std::size_t>(version_)]) sql_ << statement;
      const int next = version_ + 1;
      sql_ << "INSERT INTO lab_version (version) VALUES (:version)", soci::use(next);
    }
  });
}

void LabConnection::fail(const soci::soci_error& error) {
  const std::string reason = reason_of(error);
  if (engine() == LabEngine::Postgresql &&
      (error.get_error_category() == soci::soci_error::connection_error || !sql_.is_connected()))
    throw LabUnreachable(fmt::format("{}: the database does not answer: {}", shown_, reason));
  if (reason.find("not a database") != std::string::npos)
    throw InputError(fmt::format("{}: is not a database of Trocar; name another file", shown_));
  if (reason.find("disk") != std::string::npos || reason.find("No space left") != std::string::npos)
    throw RunError(fmt::format("{}: cannot be written; is the disk full? ({})", shown_, reason));
  throw RunError(fmt::format("{}: the database refuses: {}", shown_, reason));
}

}  // namespace trocar
