// Splits a text into lines, numbered from 1. A line ends with LF, CRLF, or CR alone, as old programs for the Macintosh
// and some spreadsheets write it, or with CR CR LF, as a CRLF becomes when it is converted twice; one text may mix
// them. Tested in tests/mesh/mesh_io_foreign_test.cpp
#pragma once

#include <cstddef>
#include <string_view>

namespace trocar {

class TextLines {
 public:
  explicit TextLines(std::string_view text);
  // Reads the next line. Returns false at the end of the text.
  bool next(std::string_view& line);
  std::size_t number() const { return number_; }
  std::size_t offset() const { return offset_; }  // of the first unread byte

 private:
  std::string_view text_;
  bool lone_cr_;
  std::size_t offset_ = 0;
  std::size_t number_ = 0;
};

// Returns whether the first line of a text ends with CR alone. Binary data may follow the last line of such a text and
// begin with the byte of LF, so a CR takes no LF after it there.
bool ends_with_lone_cr(std::string_view text);
// Takes the line that begins at `offset`. Returns the offset after its end.
std::size_t take_line(std::string_view text, std::size_t offset, bool lone_cr, std::string_view& line);
// Returns whether this byte is the last one of a line end.
inline bool ends_line(std::string_view text, std::size_t at) {
  const std::string_view after = text.substr(at + 1, 2);
  return text[at] == '\n' || (text[at] == '\r' && !after.starts_with('\n') && after != "\r\n");
}
std::size_t count_line_ends(std::string_view text);

}  // namespace trocar
