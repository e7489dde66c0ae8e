// Overwrites one cell of a table in an HDF5 file, as a faulty disk or another program would.
#pragma once

#include <gtest/gtest.h>
#include <hdf5.h>

#include <vector>

namespace trocar::test {

template <typename T>
void put_cell(hid_t file, const char* path, hid_t type, std::vector<hsize_t> cell, T value) {
  const hid_t table = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(table);
  const std::vector<hsize_t> one(cell.size(), 1);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, cell.data(), nullptr, one.data(), nullptr);
  const hid_t memory = H5Screate_simple(static_cast<int>(one.size()), one.data(), nullptr);
  EXPECT_GE(H5Dwrite(table, type, memory, space, H5P_DEFAULT, &value), 0);
  H5Sclose(memory), H5Sclose(space), H5Dclose(table);
}

}  // namespace trocar::test
