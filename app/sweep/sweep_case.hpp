// A case of a sweep, what came of it, both as lines of text, and the journal that keeps them.
// Tested in tests/app/sweep_test.cpp
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace trocar {

// How the results of a case are read from the files that its commands write.
enum class ResultKind { Replay, Score, Compare, Curve };

// An argument that begins with this character names a file in the case's own temporary folder. The plan reader refuses
// control characters.
constexpr char kScratchMark = '\x01';

struct SweepCase {
  std::uint64_t number = 0;  // in the plan, from 0
  ResultKind results = ResultKind::Score;
  std::vector<std::vector<std::string>> commands;  // arguments of each, run in turn while they succeed
};

enum class CaseStatus { Done, Refused, Failed, Crashed, TimedOut };
const char* name_of(CaseStatus status);

struct CaseOutcome {
  std::uint64_t number = 0;
  CaseStatus status = CaseStatus::Done;
  int exit_status = 0;                                 // -1: the last command did not exit
  int signal = 0;                                      // 0: none
  std::string error;                                   // one sentence; empty when done
  std::vector<std::pair<std::string, double>> values;  // column and result; NaN: undefined
  double seconds = 0.0;                                // wall time, not part of the results
  double cpu_seconds = 0.0;
  double memory_mib = 0.0;  // largest resident memory of a child
};

std::string to_line(const SweepCase& one);
std::string to_line(const CaseOutcome& outcome);
// These functions throw InputError for a text that the functions above did not write.
SweepCase case_of_line(const std::string& line);
CaseOutcome outcome_of_line(const std::string& line);

class Journal {
 public:
  // Opens or creates the journal, and locks it. Throws InputError when the file is not the journal of these cases, or
  // another process writes it.
  Journal(const std::filesystem::path& file, std::uint64_t plan_checksum, std::uint64_t cases);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // The cases that the file had when it was opened, each number once.
  std::vector<CaseOutcome> take_finished() { return std::move(finished_); }
  // Writes one line. Throws RunError when the disk is full.
  void append(const CaseOutcome& outcome);
  void remove();

 private:
  void read(const std::string& text);
  std::string line_of(const std::string& json) const;
  void write(const std::string& line);

  std::filesystem::path file_;
  std::string header_;
  std::uint64_t checksum_, cases_;
  int descriptor_ = -1;
  std::vector<CaseOutcome> finished_;
};

}  // namespace trocar
