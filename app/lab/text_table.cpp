#include "app/lab/text_table.hpp"

#include <algorithm>

namespace trocar {
namespace {

// The number of characters, not bytes; a terminal shows most of them one column wide.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string TextTable::text() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_)
    for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], width_of(row[k]));
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t k = 0; k < row.size(); ++k) line += row[k] + std::string(widths[k] - width_of(row[k]) + 2, ' ');
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace trocar
