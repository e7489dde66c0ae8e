// Reads the text of mesh files: lines with their numbers, tokens, strict numbers independent of the locale. Makes error
// sentences. Internal to the readers in mesh/. Units: of the file.   Tested through tests/mesh/mesh_io_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trocar {

// Splits a text into lines, numbered from 1. A line ends with LF, CRLF, or CR alone, as old programs for the Macintosh
// and some spreadsheets write it, or with CR CR LF, as a CRLF becomes when it is converted twice; one text may mix
// them.
class TextLines {
 public:
  explicit TextLines(std::string_view text);  // which must outlive it
  // Reads the next line. Returns false at the end of the text.
  bool next(std::string_view& line);
  std::size_t number() const { return number_; }  // of the last line read; 0 before the first
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
std::size_t count_line_ends(std::string_view text);  // CR LF and CR CR LF count once

}  // namespace trocar

namespace trocar::mesh_io {

// Names the number types of PLY, legacy VTK and VTP files and converts the numbers of binary data. Internal to the
// readers in mesh/.
struct NumberType {
  std::size_t bytes = 0;
  char kind = 'i';  // 'i' signed, 'u' unsigned, 'f' floating
};

// Return the type of that name; null when the format has none. Legacy VTK ignores case.
const NumberType* ply_type(std::string_view name);
const NumberType* vtk_type(std::string_view name);
const NumberType* vtp_type(std::string_view name);

// Returns the bits of a number of `count` bytes in the file.
std::uint64_t bits_of(const char* bytes, std::size_t count, bool big_endian);
std::int64_t integer_of(std::uint64_t bits, NumberType type);  // of type 'i', or 'u' and below 2^63
double number_of(std::uint64_t bits, NumberType type);         // of any type; type 'u': below 2^63

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
bool equal_ignoring_case(std::string_view a, std::string_view b);  // case of the letters a to z

// Removes and returns the first word of `rest`; empty when there is none.
std::string_view take_word(std::string_view& rest);

using Lines = TextLines;

// Reads words across line ends, each with its line number. Line ends are those of TextLines.
class Words {
 public:
  explicit Words(std::string_view text);  // which must outlive it
  // Returns the next word, or an empty one at the end of the text.
  std::string_view next();
  std::string_view peek();  // what next() will return
  // Returns the remainder of the current line; continues on the next line.
  std::string_view rest_of_line();
  std::size_t line() const { return line_; }      // of the last word returned
  std::size_t offset() const { return offset_; }  // of the first unread byte
  void skip_to(std::size_t offset);               // forward; counts the lines between

 private:
  std::string_view text_;
  bool lone_cr_;
  std::size_t offset_ = 0;
  std::size_t line_ = 1;
};

// Reads a number. Throws an error unless the whole word is a number. `what` names the number in the message. A number
// beyond the range of a double gives 0 where its exponent is negative, else infinity.
double number(const Source& source, std::size_t line, std::string_view word, const char* what);
// Reads a whole number of 64 bits; throws an error for any other word.
std::int64_t integer(const Source& source, std::size_t line, std::string_view word, const char* what);
// Reads a number that must be finite and at most `Source::largest`.
double coordinate(const Source& source, std::size_t line, std::string_view word);
// Makes the same check for a number without a line.
void check_coordinate(const Source& source, double value, std::size_t vertex);

}  // namespace trocar::mesh_io
