#include "mesh/text_lines.hpp"

#include <algorithm>

namespace trocar {

bool ends_with_lone_cr(std::string_view text) {
  const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
  return text.substr(end, 1) == "\r" && text.substr(end, 2) != "\r\n";
}

std::size_t take_line(std::string_view text, std::size_t offset, bool lone_cr, std::string_view& line) {
  std::size_t end = offset;
  while (end < text.size() && text[end] != '\n' && text[end] != '\r') ++end;
  line = text.substr(offset, end - offset);
  const bool pair = !lone_cr && text.substr(end, 2) == "\r\n";
  return std::min(end + (pair ? 2 : 1), text.size());
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
