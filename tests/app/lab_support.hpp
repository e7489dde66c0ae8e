// Short recordings of attempts for the tests of the lab: finished ones, those of a killed program, and altered ones.
#pragma once

#include <filesystem>
#include <string>

#include "sim/record/session_recorder.hpp"

namespace trocar::test {

// A PostgreSQL server of the test's own, in a temporary folder, on a local socket only. It stops with the program.

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

// Records as a live attempt does. `finished`: the program closes the recording.
std::filesystem::path record_attempt(const Scene& scene, const std::filesystem::path& file, int frames, bool finished,
                                     RunNote run);
// The recording of a program that is killed in mid-attempt.
std::filesystem::path record_killed(const Scene& scene, const std::filesystem::path& file, int frames,
                                    const RunNote& run);
// Gives an attribute of a recording another text; an empty one removes it.
void change_text(const std::filesystem::path& file, const char* name, const std::string& text);

}  // namespace trocar::test
