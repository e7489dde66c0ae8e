#include "mesh/mesh_io_text.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "geometry/error.hpp"

namespace trocar {
namespace {

// Returns the number of bytes of the line end that begins here.
std::size_t end_at(std::string_view text, std::size_t at, bool lone_cr) {
  if (lone_cr) return 1;
  return text.substr(at, 2) == "\r\n" ? 2 : text.substr(at, 3) == "\r\r\n" ? 3 : 1;
}

}  // namespace

bool ends_with_lone_cr(std::string_view text) {
  const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
  return end < text.size() && end_at(text, end, false) == 1 && text[end] == '\r';
}

std::size_t take_line(std::string_view text, std::size_t offset, bool lone_cr, std::string_view& line) {
  std::size_t end = offset;
  while (end < text.size() && text[end] != '\n' && text[end] != '\r') ++end;
  line = text.substr(offset, end - offset);
  return std::min(end + end_at(text, end, lone_cr), text.size());
}

std::size_t count_line_ends(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++at) count += ends_line(text, at);
  return count;
}

TextLines::TextLines(std::string_view text) : text_(text), lone_cr_(ends_with_lone_cr(text)) {}

bool TextLines::next(std::string_view& line) {
  if (offset_ >= text_.size()) return false;
  offset_ = take_line(text_, offset_, lone_cr_, line);
  ++number_;
  return true;
}

}  // namespace trocar

namespace trocar::mesh_io {
namespace {

// A name that a format does not have is empty. PLY has an old and a new name for each type, legacy VTK up to three.
struct Row {
  NumberType type;
  std::string_view ply, new_ply, vtk, fixed_vtk, vtk_id, vtp;
};

constexpr Row kRows[] = {{{1, 'i'}, "char", "int8", "char", "", "", "Int8"},
                         {{1, 'u'}, "uchar", "uint8", "unsigned_char", "", "", "UInt8"},
                         {{2, 'i'}, "short", "int16", "short", "", "", "Int16"},
                         {{2, 'u'}, "ushort", "uint16", "unsigned_short", "", "", "UInt16"},
                         {{4, 'i'}, "int", "int32", "int", "vtktypeint32", "vtkidtype", "Int32"},
                         {{4, 'u'}, "uint", "uint32", "unsigned_int", "vtktypeuint32", "", "UInt32"},
                         {{8, 'i'}, "", "", "long", "vtktypeint64", "", "Int64"},
                         {{8, 'u'}, "", "", "unsigned_long", "vtktypeuint64", "", "UInt64"},
                         {{4, 'f'}, "float", "float32", "float", "", "", "Float32"},
                         {{8, 'f'}, "double", "float64", "double", "", "", "Float64"}};

// Further names: of PLY files, and of arrays in legacy VTK files.
struct Alias {
  std::string_view name;
  NumberType type;
};
constexpr Alias kPlyAliases[] = {{"long", {8, 'i'}},  {"int64", {8, 'i'}},  {"longlong", {8, 'i'}},
                                 {"ulong", {8, 'u'}}, {"uint64", {8, 'u'}}, {"ulonglong", {8, 'u'}},
                                 {"bool", {1, 'u'}}};
constexpr Alias kVtkAliases[] = {
    {"signed_char", {1, 'i'}},    {"vtktypeint8", {1, 'i'}},     {"vtktypeuint8", {1, 'u'}},
    {"vtktypeint16", {2, 'i'}},   {"vtktypeuint16", {2, 'u'}},   {"vtktypefloat32", {4, 'f'}},
    {"vtktypefloat64", {8, 'f'}}, {"long_long", {8, 'i'}},       {"unsigned_long_long", {8, 'u'}},
    {"__int64", {8, 'i'}},        {"unsigned___int64", {8, 'u'}}};

template <class Matches>
const NumberType* find_type(std::string_view name, Matches matches) {
  if (name.empty()) return nullptr;
  for (const Row& row : kRows)
    if (matches(row)) return &row.type;
  return nullptr;
}

}  // namespace

const NumberType* ply_type(std::string_view name) {
  for (const Alias& alias : kPlyAliases)
    if (alias.name == name) return &alias.type;
  return find_type(name, [name](const Row& row) { return row.ply == name || row.new_ply == name; });
}

const NumberType* vtk_type(std::string_view name) {
  for (const Alias& alias : kVtkAliases)
    if (equal_ignoring_case(alias.name, name)) return &alias.type;
  return find_type(name, [name](const Row& row) {
    return equal_ignoring_case(row.vtk, name) || equal_ignoring_case(row.fixed_vtk, name) ||
           equal_ignoring_case(row.vtk_id, name);
  });
}

const NumberType* vtp_type(std::string_view name) {
  return find_type(name, [name](const Row& row) { return row.vtp == name; });
}

std::uint64_t bits_of(const char* bytes, std::size_t count, bool big_endian) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i)
    bits = bits << 8 | static_cast<unsigned char>(bytes[big_endian ? i : count - 1 - i]);
  return bits;
}

std::int64_t integer_of(std::uint64_t bits, NumberType type) {
  if (type.kind == 'u') return static_cast<std::int64_t>(bits);
  const int unused = 64 - 8 * static_cast<int>(type.bytes);
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

double number_of(std::uint64_t bits, NumberType type) {
  if (type.kind != 'f') return static_cast<double>(integer_of(bits, type));
  return type.bytes == 4 ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
                         : std::bit_cast<double>(bits);
}

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f'; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

const char* const kRepair = "repair the number or export the mesh again";
const char* const kUnit = "check the unit of the file: mm_per_unit in a scene, --scale in a command";

}  // namespace

void fail(const Source& source, const std::string& what, const std::string& remedy) {
  throw InputError(source.name + ": " + what + "; " + remedy);
}

void fail(const Source& source, std::size_t line, const std::string& what, const std::string& remedy) {
  throw InputError(source.name + ":" + std::to_string(line) + ": " + what + "; " + remedy);
}

std::string in_quotes(std::string_view text) { return "'" + printable(text) + "'"; }

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

std::string_view take_word(std::string_view& rest) {
  std::size_t begin = 0;
  while (begin < rest.size() && is_space(rest[begin])) ++begin;
  std::size_t end = begin;
  while (end < rest.size() && !is_space(rest[end])) ++end;
  const std::string_view word = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return word;
}

Words::Words(std::string_view text) : text_(text), lone_cr_(ends_with_lone_cr(text)) {}

std::string_view Words::next() {
  for (; offset_ < text_.size() && is_space(text_[offset_]); ++offset_) line_ += ends_line(text_, offset_);
  const std::size_t begin = offset_;
  while (offset_ < text_.size() && !is_space(text_[offset_])) ++offset_;
  return text_.substr(begin, offset_ - begin);
}

std::string_view Words::peek() {
  const std::size_t offset = offset_, line = line_;
  const std::string_view word = next();
  offset_ = offset;
  line_ = line;
  return word;
}

std::string_view Words::rest_of_line() {
  std::string_view rest;
  skip_to(take_line(text_, offset_, lone_cr_, rest));
  return rest;
}

void Words::skip_to(std::size_t offset) {
  for (; offset_ < offset; ++offset_) line_ += ends_line(text_, offset_);
}

double number(const Source& source, std::size_t line, std::string_view word, const char* what) {
  std::string_view digits = word;
  if (digits.size() > 1 && digits.front() == '+' && digits[1] != '-') digits.remove_prefix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (word.empty()) fail(source, line, std::string(what) + " is missing", kRepair);
  if (error == std::errc::invalid_argument || end != digits.data() + digits.size()) {
    fail(source, line, std::string(what) + " is " + in_quotes(word) + ", which is not a number", kRepair);
  }
  // A number out of range is either too small, which gives 0, or too large.
  if (error == std::errc::result_out_of_range) {
    return digits.find("e-") != digits.npos || digits.find("E-") != digits.npos ? 0.0 : HUGE_VAL;
  }
  return value;
}

std::int64_t integer(const Source& source, std::size_t line, std::string_view word, const char* what) {
  std::string_view digits = word;
  if (digits.size() > 1 && digits.front() == '+' && digits[1] != '-') digits.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (word.empty()) fail(source, line, std::string(what) + " is missing", kRepair);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    fail(source, line, std::string(what) + " is " + in_quotes(word) + ", which is not a whole number", kRepair);
  }
  return value;
}

double coordinate(const Source& source, std::size_t line, std::string_view word) {
  const double value = number(source, line, word, "a vertex coordinate");
  if (!std::isfinite(value)) fail(source, line, "a vertex coordinate is " + in_quotes(word), kRepair);
  if (std::abs(value) > source.largest) {
    fail(source, line, "a vertex coordinate is " + in_quotes(word) + ", more than a kilometre from the origin", kUnit);
  }
  return value;
}

void check_coordinate(const Source& source, double value, std::size_t vertex) {
  if (!std::isfinite(value)) {
    fail(source, "vertex " + std::to_string(vertex) + " has a coordinate that is not a finite number",
         "export the mesh again");
  }
  if (std::abs(value) > source.largest) {
    fail(source, "vertex " + std::to_string(vertex) + " is more than a kilometre from the origin", kUnit);
  }
}

}  // namespace trocar::mesh_io
