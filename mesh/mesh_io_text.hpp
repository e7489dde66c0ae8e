// Reads the text of mesh files: lines with their numbers, tokens, strict numbers independent of the locale. Makes error
// sentences. Internal to the readers in mesh/.   Tested through tests/mesh/mesh_io_test.cpp and mesh_io_errors_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "mesh/text_lines.hpp"

namespace trocar::mesh_io {

// A whole file in memory.
struct Source {
  std::string name;        // as the user wrote it, for messages
  std::string_view bytes;  // without a byte order mark
  double largest = 0.0;    // file units; a larger coordinate is rejected
};

// These functions throw InputError "NAME: what; remedy" or "NAME:LINE: what; remedy".
[[noreturn]] void fail(const Source& source, const std::string& what, const std::string& remedy);
[[noreturn]] void fail(const Source& source, std::size_t line, const std::string& what, const std::string& remedy);

// Quotes text from the file, cut to a length that fits into a sentence; control characters are replaced.
std::string in_quotes(std::string_view text);
bool equal_ignoring_case(std::string_view a, std::string_view b);

// Removes and returns the first word of `rest`; empty when there is none.
std::string_view take_word(std::string_view& rest);

using Lines = TextLines;

// Reads words across line ends, each with its line number. Line ends are those of TextLines.
class Words {
 public:
  explicit Words(std::string_view text);
  // Returns the next word, or an empty one at the end of the text.
  std::string_view next();
  std::string_view peek();
  // Returns the remainder of the current line; continues on the next line.
  std::string_view rest_of_line();
  std::size_t line() const { return line_; }      // of the last word returned
  std::size_t offset() const { return offset_; }  // of the first unread byte
  void skip_to(std::size_t offset);

 private:
  std::string_view text_;
  bool lone_cr_;
  std::size_t offset_ = 0;
  std::size_t line_ = 1;
};

// Reads a number. Throws an error unless the whole word is a number. `what` names the number in the message.
double number(const Source& source, std::size_t line, std::string_view word, const char* what);
std::int64_t integer(const Source& source, std::size_t line, std::string_view word, const char* what);
// Reads a number that must be finite and at most `Source::largest`.
double coordinate(const Source& source, std::size_t line, std::string_view word);
// Makes the same check for a number without a line.
void check_coordinate(const Source& source, double value, std::size_t vertex);

}  // namespace trocar::mesh_io
