// A PostgreSQL server of the test's own, in a temporary folder, on a local socket only. It stops with the program.
#pragma once

#include <filesystem>
#include <string>

namespace trocar::test {

class PostgresServer {
 public:
  // Returns whether PostgreSQL 15 is installed and this user can run it.
  static bool available();
  // Starts the server at the first call.
  static PostgresServer& shared();

  std::string address(const std::string& database) const;
  void make_database(const std::string& name);
  // Executes one statement, past the program's own code.
  void execute(const std::string& database, const std::string& statement);
  void stop();
  void start();
  ~PostgresServer();

 private:
  PostgresServer();
  void run(const std::string& command) const;
  std::filesystem::path folder_;
  bool running_ = false;
};

void execute_sqlite(const std::string& file, const std::string& statement);

}  // namespace trocar::test
