#include "tests/sim/recorded_duct.hpp"

#include <hdf5.h>

namespace trocar::test {

void put_in_first_row(const std::filesystem::path& file, const char* table, std::uint64_t column, std::uint32_t value) {
  const hid_t opened = H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t numbers = H5Dopen2(opened, table, H5P_DEFAULT), space = H5Dget_space(numbers);
  const hsize_t at[2] = {0, column}, one[2] = {1, 1};
  H5Sselect_hyperslab(space, H5S_SELECT_SET, at, nullptr, one, nullptr);
  const hid_t memory = H5Screate_simple(1, one, nullptr);
  EXPECT_GE(H5Dwrite(numbers, H5T_NATIVE_UINT32, memory, space, H5P_DEFAULT, &value), 0) << table;
  H5Sclose(memory), H5Sclose(space), H5Dclose(numbers), H5Fclose(opened);
}

}  // namespace trocar::test
