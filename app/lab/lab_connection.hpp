// A connection to the lab's database: its address, transactions, errors as sentences, and the version of its tables.
// Includes SOCI: only for .cpp files of this folder.   Tested through tests/app/lab_database_test.cpp
#pragma once

#include <soci/soci.h>

#include <string>
#include <type_traits>

namespace trocar {

enum class LabEngine { Sqlite, Postgresql };

struct LabAddress {
  LabEngine engine = LabEngine::Sqlite;
  std::string target;  // path of a file, or the address of a server
};
// Throws InputError for an address of another kind.
LabAddress lab_address(const std::string& text);

// Opens a connection and brings the tables to the present version. Throws the errors of LabDatabase.
class LabConnection {
 public:
  explicit LabConnection(const std::string& address);

  soci::session& sql() { return sql_; }
  LabEngine engine() const { return address_.engine; }
  int version() const { return version_; }
  const std::string& shown() const { return shown_; }

  // Runs `work`. Errors of the database become LabUnreachable or RunError.
  template <class Work>
  auto guarded(Work work) {
    try {
      return work();
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
  void open();
  void upgrade();
  int read_version();

  LabAddress address_;
  std::string shown_;
  soci::session sql_;
  int version_ = 0;
};

}  // namespace trocar
