// Overwrites one cell of a table in an HDF5 file, as a faulty disk or another program would.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace trocar::test {

// `file`: an open HDF5 file. `cell`: its row, then the columns in it; numbers beyond the table's dimensions are
// ignored. HDF5 converts the value to the table's type.
void put_cell(std::int64_t file, const char* table, const std::vector<unsigned long long>& cell, double value);
void put_cell(const std::filesystem::path& file, const char* table, const std::vector<unsigned long long>& cell,
              double value);

}  // namespace trocar::test
