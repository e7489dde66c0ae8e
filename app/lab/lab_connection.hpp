// A connection to the lab's database: transactions, errors as sentences, limits of every wait, and the version of its
// tables. Includes SOCI: only for .cpp files of this folder.   Tested through tests/app/lab_database_test.cpp
#pragma once

#include <soci/soci.h>

#include <memory>
#include <string>
#include <type_traits>

#include "app/lab/lab_address.hpp"
#include "app/lab/lab_database.hpp"
#include "app/lab/silence_watch.hpp"
#include "app/lab/sqlite_file.hpp"

namespace trocar {

// Throws the errors of LabDatabase.
class LabConnection {
 public:
  LabConnection(const std::string& address, LabUse use, const LabPatience& patience);
  // An empty database in memory.
  LabConnection();

  soci::session& sql() { return sql_; }
  LabEngine engine() const { return address_.engine; }
  int version() const { return version_; }
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
