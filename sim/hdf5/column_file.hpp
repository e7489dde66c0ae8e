// Makes an HDF5 file of equally long columns. Equal columns give equal bytes: the file has no times, and neither its
// name nor the machine are in it. It begins with a user block, a text of 512 bytes that names its kind; every HDF5
// program skips it.   Tested in tests/sim/recording/recording_bytes_test.cpp
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trocar {

// A column is a list of numbers or a list of texts (UTF-8); the other list is empty.
struct FileColumn {
  std::string name;  // without '/'
  std::vector<double> numbers;
  std::vector<std::string> texts;
  bool is_text = false;
};

class ColumnFile {
 public:
  // `kind`: text of the user block, at most 511 bytes. The members throw RunError when memory is short.
  explicit ColumnFile(const std::string& kind);
  ~ColumnFile();
  ColumnFile(const ColumnFile&) = delete;
  ColumnFile& operator=(const ColumnFile&) = delete;

  void add_attribute(const std::string& name, const std::string& text);  // of the whole file
  // Adds a dataset to the group `table`, which keeps the order of its columns.
  void add(const FileColumn& column);
  // Ends the file and returns its bytes.
  std::string bytes();

 private:
  std::string kind_;
  std::int64_t file_ = -1, group_ = -1;
};

}  // namespace trocar
