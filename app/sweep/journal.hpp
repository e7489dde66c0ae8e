// The journal of a sweep in progress: a text file beside the results with one line for each finished case. A killed
// sweep goes on from it. Every line has a checksum, so that a line that was cut short, or belongs to other cases, does
// not count.   Format: docs/file-formats.md   Tested in tests/app/sweep_test.cpp
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/sweep/sweep_case.hpp"

namespace trocar {

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
