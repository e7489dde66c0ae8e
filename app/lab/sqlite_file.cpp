#include "app/lab/sqlite_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <soci/sqlite3/soci-sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "app/lab/lab_database.hpp"
#include "app/lab/lab_schema.hpp"
#include "geometry/error.hpp"

namespace trocar {
namespace {

namespace fs = std::filesystem;
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

}  // namespace trocar
