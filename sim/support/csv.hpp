// Reads a table of numbers with a header, as statistics programs and spreadsheets write it. Cells are separated by
// commas, semicolons, tabs, vertical bars or spaces; the names of the columns decide, or a first line `sep=;`. Cells
// may be in quotation marks. Lines that begin with # are comments, and the header may be one of them. Numbers have a
// decimal point, or a decimal comma where commas do not separate cells. What has two meanings is refused. Tested in
// tests/sim/device/trajectory_test.cpp
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mesh/mesh_io_text.hpp"

namespace trocar {

struct CsvFormat {
  std::span<const std::string_view> columns;  // the names that a header may have
  std::size_t required = 0;                   // a comment with the first so many names is the header
  std::size_t longest_line = 4096;            // bytes
  const char* what = "table";                 // for error messages
};

class CsvReader {
 public:
  // Reads up to the header. Throws InputError "FILE: ..." or "FILE:LINE: ...", as all functions do. The text must
  // outlive the reader.
  CsvReader(std::string file, std::string_view text, const CsvFormat& format);

  const std::vector<std::string>& header() const { return header_; }  // empty: the file has no line
  std::size_t header_line() const { return header_line_; }
  // Reads the next row. Returns false at the end. Cells beyond the header must be empty.
  bool next_row();
  const std::vector<std::string>& cells() const { return cells_; }  // of the row
  std::size_t line() const { return lines_.number(); }
  // Returns the number in a cell of the row; `column`: its name, for the error message.
  double number(std::size_t cell, std::string_view column);

 private:
  [[noreturn]] void fail(const std::string& what) const;
  bool next_line(std::string_view& line);
  bool next_row_line(std::string_view& line);
  void take_row_names();
  void choose_separator(std::string_view line);
  std::vector<std::string> split(std::string_view line);
  bool take_commented_header(std::string_view line);

  std::string file_;
  TextLines lines_;
  const CsvFormat format_;
  char separator_ = '\0';  // not known
  std::vector<std::string> header_, cells_;
  std::vector<bool> quoted_;  // [cell]
  std::size_t header_line_ = 0;
  std::string_view waiting_;      // the first row, read while the header was looked for
  char decimal_ = '\0';           // the decimal mark that the file uses
  std::size_t decimal_line_ = 0;  // where it was first used
};

// Writes a text as a cell of a CSV file (RFC 4180). The cell is quoted if the text contains a comma, a quote or a line
// end. A spreadsheet takes a cell that begins with = + - @ as a formula, so an apostrophe precedes such a text. Numbers
// of the program are written without this function.

inline std::string csv_text(const std::string& text) {
  const bool formula = !text.empty() && std::string("=+-@\t\r\n").find(text.front()) != std::string::npos;
  const std::string harmless = formula ? "'" + text : text;
  if (harmless.find_first_of(",\"\r\n") == std::string::npos) return harmless;
  std::string quoted = "\"";
  for (const char c : harmless) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace trocar
