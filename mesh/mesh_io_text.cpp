#include "mesh/mesh_io_text.hpp"

#include <charconv>
#include <cmath>

#include "geometry/error.hpp"

namespace trocar::mesh_io {
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
