// Aligns the columns of a table for a terminal. Letters of several bytes count once.
// Tested through tests/app/lab_tables_test.cpp
#pragma once

#include <string>
#include <vector>

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

}  // namespace trocar
