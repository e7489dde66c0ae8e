// The instructor's day: who has practised lately, who is stuck at which step of the curriculum, and whose attempts a
// slow machine made practice.   Units: seconds; dates are seconds since 1970 (UTC).   Tested in
// tests/app/lab_database_test.cpp
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/lab/lab_course.hpp"
#include "app/lab/lab_database.hpp"

namespace trocar {

inline constexpr double kDay = 86400.0, kWeek = 7.0 * kDay;  // s
// So many attempts at a step without a pass among them, and the person is stuck there.
inline constexpr int kStuckAfter = 5;

// What one person did in the last week, and where the person stands.
struct DayRow {
  Person person;
  std::size_t in_a_day = 0, in_a_week = 0;  // attempts
  double seconds_in_a_week = 0.0;
  std::size_t slow = 0;   // attempts of the week that a slow machine made practice
  LabAttempt latest;      // attempt
  std::size_t steps = 0;  // of the curriculum that are passed
  // The step at which the person is stuck, with the most attempts; else the next one; empty: all are passed.
  std::optional<std::size_t> step;
  int without_pass = 0;             // attempts at it since the last pass there
  std::vector<std::string> missed;  // by the latest of them, one sentence each

  bool stuck() const { return without_pass >= kStuckAfter; }
};

// `attempts`: of the person, newest first, not empty.
DayRow day_row(const Person& person, std::span<const LabAttempt> attempts, const Curriculum& curriculum, double now);

// Returns the rows of those who practised in the last week, the latest first, and whether there are more than `most`.
// Throws the errors of the database.
struct DayRows {
  std::vector<DayRow> rows;
  bool more = false;
};
DayRows day_rows(LabDatabase& lab, const Curriculum& curriculum, double now, std::size_t most);

}  // namespace trocar
