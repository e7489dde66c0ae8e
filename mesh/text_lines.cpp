#include "mesh/text_lines.hpp"

#include <algorithm>

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
