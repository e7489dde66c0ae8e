// Opens the columns of a recording, and finds the rows that belong to complete frames: all rows after a clean end, some
// of them after a kill.   Tested in tests/sim/recording/recorder_test.cpp and
// tests/sim/recording/recording_faults_test.cpp
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/hdf5/recording_layout.hpp"

namespace trocar {

// The columns of one group that a file has.
class OpenColumns {
 public:
  // Without columns.
  OpenColumns() = default;
  // Opens the columns of a form; none when the file has not the first of the group, unless that must be there. Throws
  // InputError when a column is missing or has another shape. `organ`: of a group of an organ.
  OpenColumns(const H5File& file, ColumnGroup group, const RowSizes& sizes, RecordingForm form,
              const std::string& organ = "");

  bool empty() const { return tables_.empty(); }
  bool has(std::size_t column) const { return column < tables_.size() && tables_[column].has_value(); }
  const H5Table& operator[](std::size_t column) const { return *tables_[column]; }

  // Returns the number of frames, at most `frames`, for which all columns have their rows.
  std::uint64_t complete_frames(std::uint64_t frames) const;
  // Returns the number of rows of this kind that were written with the first `frames` frames (> 0). Rows that are
  // written once: as many as a column has.
  std::uint64_t rows(RowOf kind, std::uint64_t frames) const;
  // Returns the number of rows of this kind that every column has.
  std::uint64_t shortest(RowOf kind) const;

 private:
  const std::vector<Column>& kinds() const { return columns_of(group_); }
  std::optional<std::size_t> effect_of(RowOf kind) const;

  ColumnGroup group_ = ColumnGroup::Session;
  std::vector<std::optional<H5Table>> tables_;  // [column]
};

// Returns the number of rows that have taken effect in this frame. frames: ascending, the first frame of each row.
std::size_t rows_until(const std::vector<std::uint32_t>& frames, std::size_t frame);

// Checks `starts`, the table of tools + 1 columns with the first row of each tool. Returns true when the numbers ascend
// within every frame and do not exceed `rows`.
bool starts_fit(const H5Table& starts, std::uint64_t frames, std::uint64_t rows);

}  // namespace trocar
