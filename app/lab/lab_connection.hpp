// A connection to the lab's database: transactions, errors as sentences, limits of every wait, the version of its
// tables, and the rules of its SQLite file.   Includes SOCI: only for .cpp files of this folder. Tested through
// tests/app/lab_database_test.cpp
#pragma once

#include <soci/soci.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>

#include "app/lab/lab_address.hpp"
#include "app/lab/lab_database.hpp"

namespace trocar {

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

class SilenceWatch {
 public:
  // Watches nothing.
  SilenceWatch() = default;
  ~SilenceWatch();
  SilenceWatch(const SilenceWatch&) = delete;
  SilenceWatch& operator=(const SilenceWatch&) = delete;

  // Watches a connected socket from now on, while armed.
  void watch(int socket, std::chrono::milliseconds longest);
  // The server has answered, and is asked again.
  void restart();
  void disarm();
  // Whether the connection was ended.
  bool fired() const;

  // Armed for a scope.
  class Armed {
   public:
    explicit Armed(SilenceWatch& watch) : watch_(watch) { watch_.restart(); }
    ~Armed() { watch_.disarm(); }
    Armed(const Armed&) = delete;
    Armed& operator=(const Armed&) = delete;

   private:
    SilenceWatch& watch_;
  };

 private:
  void run();

  int socket_ = -1;  // a descriptor of our own, so that its number is not reused while we hold it
  std::chrono::milliseconds longest_{0};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  bool ended_ = false, fired_ = false;
  std::thread thread_;
};

// Throws the errors of LabDatabase.
class LabConnection {
 public:
  LabConnection(const std::string& address, LabUse use, const LabPatience& patience);
  // An empty database in memory.
  LabConnection();

  soci::session& sql() { return sql_; }
  LabEngine engine() const { return address_.engine; }
  int version() const { return version_; }
  // Version 2 of the tables brought them; a reader takes version 1 as it is.
  bool has_comments() const { return version_ >= 2; }
  const std::string& shown() const { return shown_; }
  void make_private() const;

  // Runs `work`. Errors of the database become LabUnreachable, InputError or RunError.
  template <class Work>
  auto guarded(Work work) {
    const SilenceWatch::Armed armed(watch_);
    try {
      if constexpr (std::is_void_v<decltype(work())>) {
        work();
        require_unchanged();
      } else {
        auto result = work();
        require_unchanged();
        return result;
      }
    } catch (const soci::soci_error& error) {
      fail(error);
    }
  }
  // Does the same as one transaction that writes.
  template <class Work>
  auto changed(Work work) {
    return guarded([&] {
      Transaction transaction(*this, Kind::Write);
      if constexpr (std::is_void_v<decltype(work())>) {
        work();
        transaction.commit();
      } else {
        auto result = work();
        transaction.commit();
        return result;
      }
    });
  }
  // Does the same as one transaction that sees the database at one instant.
  template <class Work>
  auto at_one_instant(Work work) {
    return guarded([&] {
      const Transaction transaction(*this, Kind::Read);
      return work();
    });
  }
  // Inside these: the server has answered, so that its time to answer begins again.
  void answered() { watch_.restart(); }
  // Inside these: runs work that has nothing to do with the server.
  template <class Work>
  void aside(Work work) {
    watch_.disarm();
    work();
    watch_.restart();
  }

 private:
  enum class Kind { Read, Write };
  // Is rolled back unless it was committed.
  class Transaction {
   public:
    Transaction(LabConnection& connection, Kind kind);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit();

   private:
    soci::session& sql_;
    bool open_ = true;
  };

  [[noreturn]] void fail(const soci::soci_error& error);
  [[noreturn]] void fail_of_server(const soci::soci_error& error);
  void open_server();
  void open_file();
  int read_version();
  void require_version() const;
  void upgrade();
  void require_unchanged() const {
    if (file_) file_->require_unchanged();
  }

  LabAddress address_;
  LabUse use_;
  LabPatience patience_;
  std::string shown_;
  std::unique_ptr<SqliteFile> file_;  // of a SQLite database that is not in memory
  std::vector<std::string> secrets_;  // of the address
  soci::session sql_;
  SilenceWatch watch_;  // ends before the connection does
  int version_ = 0;
};

}  // namespace trocar
