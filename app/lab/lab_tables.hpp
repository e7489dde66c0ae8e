// Texts of the lab: tables of people and attempts for a terminal, and rows of a CSV file. Pure functions.
// Tested in tests/app/lab_attempt_test.cpp
#pragma once

#include <string>
#include <vector>

#include "app/lab/lab_database.hpp"

namespace trocar {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
  // A row has at most as many cells as the header.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string people_table(const std::vector<PersonSummary>& people);
std::string person_line(const Person& person);
std::string standings_table(const std::vector<Standing>& standings);
std::string attempts_table(const std::vector<LabAttempt>& attempts);

// The attempts of a person at one task, oldest first.
struct PersonAttempts {
  std::string person;
  std::vector<LabAttempt> attempts;
};
// The scores of several people side by side, one row for each attempt; below, of each metric with a value the median of
// each person's last five attempts.
std::string comparison_table(const std::vector<PersonAttempts>& people);

// The columns: key, person, started (UTC), scene, level, kind, ending, seconds, score, critical, station, devices,
// recording, then one row of a long table for each metric: metric, value. An attempt without metrics has one row.
std::string attempt_csv_header();
std::string attempt_csv_row(const LabAttempt& attempt);

}  // namespace trocar
