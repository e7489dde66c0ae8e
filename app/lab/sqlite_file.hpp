// The SQLite file of a lab's database: recognises ours by its application id, reads it without a trace, and makes new
// ones whole. A file of another program is refused and unchanged.
// Includes SOCI: only for .cpp files of this folder.   Tested in tests/app/lab_files_test.cpp
#pragma once

#include <soci/soci.h>

#include <chrono>
#include <filesystem>
#include <string>

namespace trocar {

// "Troc": in the header of a SQLite file it says whose file this is.
constexpr int kLabApplicationId = 0x54726F63;

class SqliteFile {
 public:
  // `file`: need not exist.
  explicit SqliteFile(const std::filesystem::path& file);

  bool exists() const;
  // Opens for reading: takes no write lock, changes no byte and leaves no file. Waits for a writer at most `busy`.
  // Throws InputError when this is not a database of ours, or cannot be read: with the cause.
  void open_to_read(soci::session& sql, std::chrono::milliseconds busy);
  // Opens for writing. A database of an earlier version that has no mark gets it from mark().
  void open_to_write(soci::session& sql, std::chrono::milliseconds busy);
  // Opens a new, empty file that no other program knows: without a journal, so that it is one file.
  void open_new(soci::session& sql);
  // Writes the application id, in the caller's transaction.
  void mark(soci::session& sql);
  bool marked() const { return marked_; }

  // Some databases are read without locks: on media that cannot be written, and where the file system has no locks.
  // Throws RunError when such a database was changed meanwhile.
  void require_unchanged() const;
  // Lets only its owner read the file, if this is the user.
  void make_private() const;

  // Turns an error of SQLite into InputError, LabUnreachable or RunError with its cause.
  [[noreturn]] void fail(const soci::soci_error& error, bool reading) const;

 private:
  enum class Way { Shared, ReadOnly, Alone, Immutable };
  struct Stamp {
    std::int64_t changed_ns = 0, bytes = -1, wal_changed_ns = 0, wal_bytes = -1;
    bool operator==(const Stamp&) const = default;
  };

  std::filesystem::path beside(const char* ending) const;
  std::int64_t size_of(const char* ending) const;  // -1: there is no such file
  void require_database_file() const;
  bool writable() const;
  Stamp stamp() const;
  void open(soci::session& sql, Way way, std::chrono::milliseconds busy);
  void try_ways(soci::session& sql, std::initializer_list<Way> ways, std::chrono::milliseconds busy);
  void recognise(soci::session& sql);

  std::filesystem::path file_;
  bool marked_ = false, without_locks_ = false;
  Stamp at_first_;
};

}  // namespace trocar
