#include "app/lab/lab_connection.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <libpq-fe.h>
#include <soci/postgresql/soci-postgresql.h>
#include <soci/sqlite3/soci-sqlite3.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <span>

#include "geometry/error.hpp"
#include "mesh/whole_file.hpp"

namespace trocar {
namespace {

using Migration = std::span<const char* const>;

// A person's row sums up all attempts, and `standing` those at a level of a task, so that a view of a cohort reads no
// attempts. The indices are those of the views that bench/lab_views.cpp measures.
constexpr const char* kVersion1[] = {
    "CREATE TABLE person (id TEXT PRIMARY KEY, name TEXT NOT NULL, added DOUBLE PRECISION NOT NULL, "
    "attempts INTEGER NOT NULL DEFAULT 0, last_started DOUBLE PRECISION NOT NULL DEFAULT 0)",
    "CREATE INDEX person_by_date ON person (last_started)",
    "CREATE TABLE attempt (key TEXT PRIMARY KEY, person TEXT NOT NULL REFERENCES person (id), station TEXT NOT NULL, "
    "scene TEXT NOT NULL, title TEXT NOT NULL, level INTEGER NOT NULL, kind TEXT NOT NULL, ending TEXT NOT NULL, "
    "devices TEXT NOT NULL, started DOUBLE PRECISION NOT NULL, seconds DOUBLE PRECISION NOT NULL, "
    "score DOUBLE PRECISION, critical INTEGER NOT NULL, version TEXT NOT NULL, recording TEXT NOT NULL, "
    "metrics TEXT NOT NULL)",
    "CREATE INDEX attempt_of_person ON attempt (person, started)",
    "CREATE INDEX attempt_of_person_at_task ON attempt (person, scene, started)",
    "CREATE INDEX attempt_of_task ON attempt (scene, started)",
    "CREATE INDEX attempt_by_date ON attempt (started)",
    "CREATE TABLE standing (person TEXT NOT NULL REFERENCES person (id), scene TEXT NOT NULL, level INTEGER NOT NULL, "
    "attempts INTEGER NOT NULL, best DOUBLE PRECISION, last DOUBLE PRECISION, last_started DOUBLE PRECISION NOT NULL, "
    "PRIMARY KEY (person, scene, level))",
    "CREATE INDEX standing_of_task ON standing (scene, person)",
};

constexpr const char* kVersion2[] = {
    "CREATE TABLE comment (key TEXT PRIMARY KEY, attempt TEXT NOT NULL REFERENCES attempt (key), author TEXT NOT NULL, "
    "written DOUBLE PRECISION NOT NULL, text TEXT NOT NULL)",
    "CREATE INDEX comment_of_attempt ON comment (attempt, written)",
    "CREATE INDEX comment_of_author ON comment (author)",
};

constexpr Migration kMigrations[] = {kVersion1, kVersion2};

void migrate(soci::session& sql, int from, int to) {
  sql << "CREATE TABLE IF NOT EXISTS lab_version (version INTEGER NOT NULL)";
  for (int version = from; version < to; ++version) {
    for (const char* statement : kMigrations[version]) sql << statement;
    const int next = version + 1;
    sql << "INSERT INTO lab_version (version) VALUES (:version)", soci::use(next);
  }
}

// Migrations in order: the first one makes version 1 of an empty database.
std::span<const Migration> lab_migrations() { return kMigrations; }

// Brings tables of this version (0: none yet) to the present one, in the caller's transaction.
void upgrade_tables(soci::session& sql, int version) {
  migrate(sql, version, static_cast<int>(std::size(kMigrations)));
}

// "table.column" of the tables of a SQLite database, without SQLite's own.
std::set<std::string> columns_of(soci::session& sqlite) {
  const soci::rowset<std::string> rows =
      (sqlite.prepare << "SELECT m.name || '.' || c.name FROM sqlite_master m, pragma_table_info(m.name) c "
                         "WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite!_%' ESCAPE '!'");
  return {rows.begin(), rows.end()};
}

// The same of our tables after this many migrations.
std::set<std::string> lab_columns(int version) {
  soci::session memory(soci::sqlite3, "db=:memory:");
  migrate(memory, 0, version);
  return columns_of(memory);
}

namespace fs = std::filesystem;

// "Troc": in the header of a SQLite file it says whose file this is.
constexpr int kLabApplicationId = 0x54726F63;
using std::chrono::milliseconds;

// Result codes of SQLite: sqlite.org/rescode.html
constexpr int kPerm = 3, kBusy = 5, kLocked = 6, kReadOnly = 8, kIoErr = 10, kCorrupt = 11, kFull = 13, kCantOpen = 14,
              kNotADatabase = 26;

int code_of(const soci::soci_error& error) {
  const auto* sqlite = dynamic_cast<const soci::sqlite3_soci_error*>(&error);
  return sqlite ? sqlite->result() & 0xff : 0;
}

std::string uri_of(const fs::path& file, const char* parameters) {
  std::string text = "file:";
  for (const char letter : file.string()) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) || std::string_view("/-_.~").find(letter) != std::string_view::npos)
      text += letter;
    else
      text += fmt::format("%{:02X}", byte);
  }
  return text + parameters;
}

void connect(soci::session& sql, const fs::path& file, const char* parameters) {
  sql.close();
  sql.open(soci::sqlite3, "db=" + uri_of(file, parameters));
  sql << "PRAGMA busy_timeout = 0";
  // Nothing that the file's own schema names is executed.
  sql << "PRAGMA trusted_schema = OFF";
}

void read_once(soci::session& sql) {
  int tables = 0;
  sql << "SELECT COUNT(*) FROM sqlite_master", soci::into(tables);
}

// Whether files of this folder can be locked; true when no file can be made there. The database itself is not tried: a
// process that closes a file loses all its locks on it.
bool has_locks(const fs::path& folder) {
  std::string name = (folder / ".trocar-lock-XXXXXX").string();
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) return true;
  struct flock lock {};
  lock.l_type = F_WRLCK, lock.l_whence = SEEK_SET, lock.l_len = 1;
  const bool locked = ::fcntl(descriptor, F_SETLK, &lock) == 0;
  ::close(descriptor);
  ::unlink(name.c_str());
  return locked;
}

std::int64_t nanoseconds(const timespec& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

void set_busy(soci::session& sql, milliseconds busy) { sql << fmt::format("PRAGMA busy_timeout = {}", busy.count()); }

}  // namespace

SqliteFile::SqliteFile(const fs::path& file) {
  std::error_code error;
  // SQLite keeps its other files beside the target of a link.
  file_ = fs::canonical(file, error);
  if (error) file_ = fs::absolute(file, error).lexically_normal();
}

fs::path SqliteFile::beside(const char* ending) const { return file_.string() + ending; }

std::int64_t SqliteFile::size_of(const char* ending) const {
  struct stat status {};
  return ::stat(beside(ending).c_str(), &status) == 0 ? status.st_size : -1;
}

bool SqliteFile::exists() const {
  struct stat status {};
  if (::stat(file_.c_str(), &status) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  throw InputError(fmt::format("{}: cannot be looked up: {}", file_.string(), std::strerror(errno)));
}

void SqliteFile::require_database_file() const {
  if (!exists())
    throw InputError(fmt::format("{}: there is no such database; check the path, or add a person to make a new one",
                                 file_.string()));
  struct stat status {};
  if (::stat(file_.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    throw InputError(fmt::format("{}: is not a file; name the file of a database", file_.string()));
  if (::access(file_.c_str(), R_OK) != 0)
    throw InputError(fmt::format("{}: cannot be read; this user has no permission", file_.string()));
  if (status.st_size == 0 && size_of("-wal") <= 0)
    throw InputError(
        fmt::format("{}: is empty, so it is not a database of Trocar; remove it or name another file", file_.string()));
}

bool SqliteFile::writable() const {
  return ::access(file_.c_str(), W_OK) == 0 && ::access(file_.parent_path().c_str(), W_OK) == 0;
}

SqliteFile::Stamp SqliteFile::stamp() const {
  Stamp stamp;
  struct stat status {};
  if (::stat(file_.c_str(), &status) == 0) stamp.changed_ns = nanoseconds(status.st_mtim), stamp.bytes = status.st_size;
  if (::stat(beside("-wal").c_str(), &status) == 0 && status.st_size > 0)
    stamp.wal_changed_ns = nanoseconds(status.st_mtim), stamp.wal_bytes = status.st_size;
  return stamp;
}

void SqliteFile::require_unchanged() const {
  if (without_locks_ && stamp() != at_first_)
    throw RunError(
        fmt::format("{}: another program changed the database while it was read; try again", file_.string()));
}

void SqliteFile::open(soci::session& sql, Way way, milliseconds busy) {
  constexpr const char* kParameters[] = {"?mode=rw", "?mode=ro", "?mode=ro&vfs=unix-none", "?mode=ro&immutable=1"};
  at_first_ = stamp();
  connect(sql, file_, kParameters[static_cast<int>(way)]);
  without_locks_ = way == Way::Alone || way == Way::Immutable;
  if (way == Way::Shared) sql << "PRAGMA query_only = ON";
  // Without other connections the index of the write-ahead log is in memory, not in a file.
  if (way == Way::Alone) sql << "PRAGMA locking_mode = EXCLUSIVE";
  try {
    read_once(sql);
  } catch (const soci::soci_error& error) {
    if (code_of(error) != kBusy || !has_locks(file_.parent_path())) throw;
    set_busy(sql, busy);
    read_once(sql);
  }
  set_busy(sql, busy);
}

// Opens in the first way that the medium allows.
void SqliteFile::try_ways(soci::session& sql, std::initializer_list<Way> ways, milliseconds busy) {
  for (const Way way : ways) try {
      return open(sql, way, busy);
    } catch (const soci::soci_error& error) {
      const int code = code_of(error);
      const bool medium = code == kCantOpen || code == kReadOnly || code == kIoErr || code == kPerm ||
                          (code == kBusy && !has_locks(file_.parent_path()));
      if (!medium || way == *(ways.end() - 1)) throw;
    }
}

void SqliteFile::recognise(soci::session& sql) {
  int id = 0, active = 0;
  sql << "PRAGMA application_id", soci::into(id);
  const auto found = columns_of(sql);
  marked_ = id == kLabApplicationId;
  sql << "SELECT COUNT(*) FROM sqlite_master WHERE type IN ('view', 'trigger')", soci::into(active);
  // Before there was a mark, the tables had version 1.
  if (!marked_ && (id != 0 || active != 0 || found != lab_columns(1)))
    throw InputError(fmt::format("{}: is not a database of Trocar; name another file", file_.string()));
  int version = 0;
  soci::indicator known = soci::i_null;
  if (found.contains("lab_version.version")) sql << "SELECT MAX(version) FROM lab_version", soci::into(version, known);
  const int newest = static_cast<int>(lab_migrations().size());
  if (known == soci::i_ok && version > newest) return;  // a later program's tables; the connection refuses them
  const auto needed = lab_columns(known == soci::i_ok ? std::max(version, 1) : 1);
  const auto missing = std::ranges::find_if(needed, [&](const auto& column) { return !found.contains(column); });
  if (missing != needed.end())
    throw InputError(fmt::format("{}: the tables of this database are damaged ({} is missing); restore a backup",
                                 file_.string(), *missing));
  if (active != 0)
    throw InputError(
        fmt::format("{}: has views or triggers, which no database of Trocar has; restore a backup", file_.string()));
}

void SqliteFile::open_to_read(soci::session& sql, milliseconds busy) {
  require_database_file();
  if (size_of("-wal") > 0) {
    // The latest changes are in the log. Where its index exists, other programs have the database open, or were killed.
    if (size_of("-shm") >= 0)
      try_ways(sql, {Way::ReadOnly, Way::Alone}, busy);
    else
      try_ways(sql, {Way::Alone}, busy);
    return recognise(sql);
  }
  if (size_of("-journal") > 0) {
    try_ways(sql, {Way::ReadOnly}, busy);
    return recognise(sql);
  }
  // Other ways would make files beside a database, and this may be another program's.
  open(sql, Way::Immutable, busy);
  recognise(sql);
  if (writable())
    try_ways(sql, {Way::Shared, Way::Immutable}, busy);
  else
    try_ways(sql, {Way::ReadOnly, Way::Immutable}, busy);
}

void SqliteFile::open_to_write(soci::session& sql, milliseconds busy) {
  open_to_read(sql, busy);
  without_locks_ = false;
  sql.close();
  if (!writable())
    throw InputError(
        fmt::format("{}: cannot be changed; this user may only read it or its folder, or the medium is "
                    "write-protected",
                    file_.string()));
  connect(sql, file_, "?mode=rw");
  try {
    read_once(sql);
  } catch (const soci::soci_error& error) {
    const int code = code_of(error);
    if ((code == kBusy || code == kIoErr) && !has_locks(file_.parent_path()))
      throw InputError(
          fmt::format("{}: its file system has no locks, so programs would damage it for each other; keep "
                      "it on a local disk, or use a PostgreSQL server",
                      file_.string()));
    if (code != kBusy) throw;
  }
  set_busy(sql, busy);
  make_private();
  // A change is on the disk when its transaction ends, also when the machine stops.
  sql << "PRAGMA journal_mode = WAL";
  sql << "PRAGMA synchronous = FULL";
  sql << "PRAGMA foreign_keys = ON";
}

void SqliteFile::open_new(soci::session& sql) {
  connect(sql, file_, "?mode=rw");
  sql << "PRAGMA locking_mode = EXCLUSIVE";
  sql << "PRAGMA journal_mode = OFF";
  sql << "PRAGMA synchronous = OFF";
}

void SqliteFile::mark(soci::session& sql) {
  sql << fmt::format("PRAGMA application_id = {}", kLabApplicationId);
  marked_ = true;
}

void SqliteFile::make_private() const {
  struct stat status {};
  for (const char* ending : {"", "-wal", "-shm"}) {
    const fs::path file = beside(ending);
    if (::stat(file.c_str(), &status) == 0 && status.st_uid == ::geteuid() && (status.st_mode & 077) != 0)
      ::chmod(file.c_str(), S_IRUSR | S_IWUSR);
  }
}

void SqliteFile::fail(const soci::soci_error& error, bool reading) const {
  std::string reason = error.get_error_message();
  if (const auto colon = reason.find(": "); reason.starts_with("sqlite3_") && colon != std::string::npos)
    reason.erase(0, colon + 2);  // SOCI's function
  reason.resize(std::min(reason.size(), reason.find('\n')));
  reason = printable(reason, kLongestText);
  const std::string file = file_.string();
  switch (code_of(error)) {
    case kNotADatabase:
      throw InputError(fmt::format("{}: is not a database of Trocar; name another file", file));
    case kCorrupt:
      throw InputError(fmt::format("{}: this database is damaged ({}); restore a backup", file, reason));
    case kBusy:
    case kLocked:
      throw LabUnreachable(fmt::format("{}: another program keeps this database busy; try again ({})", file, reason));
    case kReadOnly:
    case kPerm:
      throw RunError(
          fmt::format("{}: this user may only read this database, or an unfinished change must be undone "
                      "first by a user who may write it ({})",
                      file, reason));
    case kCantOpen:
      throw RunError(
          fmt::format("{}: cannot be opened; check the permissions of the file and of its folder ({})", file, reason));
    case kIoErr:
    case kFull:
      if (!reading) throw RunError(fmt::format("{}: cannot be written; is the disk full? ({})", file, reason));
      throw RunError(fmt::format("{}: cannot be read; check the disk ({})", file, reason));
    default:
      throw RunError(fmt::format("{}: the database refuses: {}", file, reason));
  }
}

SilenceWatch::~SilenceWatch() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  if (socket_ >= 0) ::close(socket_);
}

void SilenceWatch::watch(int socket, std::chrono::milliseconds longest) {
  socket_ = ::fcntl(socket, F_DUPFD_CLOEXEC, 0);
  longest_ = longest;
  if (socket_ >= 0) thread_ = std::thread([this] { run(); });
}

void SilenceWatch::restart() {
  if (socket_ < 0) return;
  {
    const std::lock_guard lock(mutex_);
    deadline_ = std::chrono::steady_clock::now() + longest_;
  }
  changed_.notify_one();
}

void SilenceWatch::disarm() {
  if (socket_ < 0) return;
  const std::lock_guard lock(mutex_);
  deadline_.reset();
}

bool SilenceWatch::fired() const {
  const std::lock_guard lock(mutex_);
  return fired_;
}

void SilenceWatch::run() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    if (!deadline_) {
      changed_.wait(lock);
    } else if (std::chrono::steady_clock::now() < *deadline_) {
      changed_.wait_until(lock, std::chrono::steady_clock::time_point(*deadline_));
    } else {
      fired_ = true;
      ::shutdown(socket_, SHUT_RDWR);
      deadline_.reset();
    }
  }
}

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
  if (use_ == LabUse::Read && version_ == 0)
    throw InputError(fmt::format("{}: has no tables of Trocar yet; trocar lab --database ADDRESS makes them", shown_));
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
