#include "tests/sim/recording/put_cell.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

namespace trocar::test {

void put_cell(std::int64_t file, const char* table, const std::vector<unsigned long long>& cell, double value) {
  const hid_t numbers = H5Dopen2(file, table, H5P_DEFAULT), space = H5Dget_space(numbers);
  const std::vector<hsize_t> one(cell.size(), 1);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, cell.data(), nullptr, one.data(), nullptr);
  const hid_t memory = H5Screate_simple(1, one.data(), nullptr);
  EXPECT_GE(H5Dwrite(numbers, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &value), 0) << table;
  H5Sclose(memory), H5Sclose(space), H5Dclose(numbers);
}

void put_cell(const std::filesystem::path& file, const char* table, const std::vector<unsigned long long>& cell,
              double value) {
  const hid_t opened = H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  put_cell(opened, table, cell, value);
  H5Fclose(opened);
}

}  // namespace trocar::test
