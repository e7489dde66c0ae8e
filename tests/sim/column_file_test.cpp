// Tests files of columns: what HDF5 reads from them, equal bytes for equal columns, and texts of any length.
#include "sim/hdf5/column_file.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <cmath>
#include <limits>
#include <thread>

#include "sim/hdf5/h5_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

std::string bytes_of(const std::vector<FileColumn>& columns) {
  ColumnFile file("Kind 1\n");
  file.add_attribute("format", "kind-1");
  for (const FileColumn& column : columns) file.add(column);
  return file.bytes();
}

std::vector<FileColumn> columns_of(std::size_t rows) {
  FileColumn numbers{"numbers", {}, {}, false}, texts{"texts", {}, {}, true};
  for (std::size_t i = 0; i < rows; ++i) {
    numbers.numbers.push_back(i % 5 == 0 ? std::numeric_limits<double>::quiet_NaN() : 0.1 * static_cast<double>(i));
    texts.texts.push_back(i % 3 == 0 ? "" : "g\u00fcnstig " + std::to_string(i));
  }
  return {numbers, texts};
}

TEST(ColumnFile, Hdf5ReadsWhatWasWritten) {
  const TemporaryFolder folder;
  const auto columns = columns_of(40000);
  const auto file = folder.write("t.h5", bytes_of(columns));
  EXPECT_EQ(read_file(file).substr(0, 8), std::string("Kind 1\n\0", 8));
  const H5File read = H5File::open(file);
  EXPECT_EQ(read.text("format"), "kind-1");
  const auto numbers = read.table("table/numbers", Cell::F64).read_all<double>();
  ASSERT_EQ(numbers.size(), 40000u);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    EXPECT_TRUE(i % 5 == 0 ? std::isnan(numbers[i]) : numbers[i] == columns[0].numbers[i]) << i;
  const hid_t plain = H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t set = H5Dopen2(plain, "table/texts", H5P_DEFAULT), type = H5Dget_type(set);
  std::string texts(H5Tget_size(type) * 40000, '\0');
  EXPECT_GE(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()), 0);
  EXPECT_EQ(std::string(texts.data() + H5Tget_size(type) * 31), columns[1].texts[31]);
  H5Tclose(type), H5Dclose(set), H5Fclose(plain);
}

TEST(ColumnFile, EqualColumnsGiveEqualBytesAtAnyTime) {
  const std::string first = bytes_of(columns_of(100));
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // HDF5 counts time in seconds
  EXPECT_EQ(bytes_of(columns_of(100)), first);
  EXPECT_NE(bytes_of(columns_of(101)), first);
}

TEST(ColumnFile, HasNoRowsOrNoColumns) {
  const TemporaryFolder folder;
  EXPECT_EQ(H5File::open(folder.write("rows.h5", bytes_of(columns_of(0)))).table("table/numbers", Cell::F64).rows(),
            0u);
  EXPECT_EQ(H5File::open(folder.write("columns.h5", bytes_of({}))).text("format"), "kind-1");
}

}  // namespace
}  // namespace trocar
