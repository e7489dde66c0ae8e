// The results of a sweep: one row for each case, in the order of the plan; columns for the case, its parameters and its
// results. Independent of the order in which cases finish: result columns are in the order in which the first case has
// them.   Format: docs/file-formats.md   Tested in tests/app/sweep_test.cpp
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "app/sweep/plan.hpp"
#include "sim/hdf5/column_file.hpp"

namespace trocar {

class ResultTable {
 public:
  explicit ResultTable(const Plan& plan);

  void add(const CaseOutcome& outcome);
  bool has(std::uint64_t number) const { return states_[number].known; }
  std::uint64_t rows() const { return known_; }
  std::uint64_t not_done() const { return not_done_; }

  // Call these functions when every case has been added.
  std::string hdf5() const;
  void write_csv(std::ostream& out) const;
  void write_times(std::ostream& out) const;
  // Returns a table of the cost per case of each run.
  std::string cost_text() const;

 private:
  // What a case has besides its values.
  struct State {
    float seconds = 0.f, cpu_seconds = 0.f, memory_mib = 0.f;
    std::int16_t exit_status = 0, signal = 0;
    CaseStatus status = CaseStatus::Done;
    bool known = false;
  };
  struct Column {
    std::string name;
    std::uint64_t first_case = 0, first_position = 0;     // where it is first, for the order of the columns
    std::vector<std::pair<std::uint64_t, double>> cells;  // case and value
  };
  std::vector<FileColumn> case_columns() const;
  std::vector<FileColumn> parameter_columns() const;
  std::vector<Column> sorted_columns() const;

  const Plan& plan_;
  std::vector<State> states_;                    // [case]
  std::map<std::uint64_t, std::string> errors_;  // of cases that have one
  std::map<std::string, std::size_t> by_name_;   // in columns_
  std::vector<Column> columns_;
  std::uint64_t known_ = 0, not_done_ = 0;
};

}  // namespace trocar
