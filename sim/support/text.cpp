#include "sim/support/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "geometry/error.hpp"

namespace trocar {
namespace {

// U+F780 .. U+F7FF are the bytes EF 9E 80 .. EF 9F BF.
bool is_private(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  return text.size() >= 3 && byte(0) == 0xEF && (byte(1) == 0x9E || byte(1) == 0x9F) && (byte(2) & 0xC0u) == 0x80;
}

void add_private(unsigned char byte, std::string& text) {
  text += '\xEF';
  text += static_cast<char>(0x9E + ((byte >> 6) & 1));
  text += static_cast<char>(0x80 + (byte & 0x3F));
}

}  // namespace

std::string text_of_bytes(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    // As far as the text is valid.
    const std::string_view valid = bytes.substr(0, first_invalid_utf8(bytes));
    for (std::size_t k = 0; k < valid.size();) {
      if (!is_private(valid.substr(k))) {
        text += valid[k++];
        continue;
      }
      for (const std::size_t end = k + 3; k < end; ++k) add_private(static_cast<unsigned char>(valid[k]), text);
    }
    bytes.remove_prefix(valid.size());
    if (bytes.empty()) break;
    add_private(static_cast<unsigned char>(bytes.front()), text);
    bytes.remove_prefix(1);
  }
  return text;
}

std::string bytes_of_text(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const bool special = is_private(text);
    bytes += special ? static_cast<char>(0x80 + ((text[1] & 1) << 6) + (text[2] & 0x3F)) : text.front();
    text.remove_prefix(special ? 3 : 1);
  }
  return bytes;
}

std::string quoted_text(std::string_view bytes) {
  std::string text = "\"";
  for (const char letter : text_of_bytes(bytes)) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\')
      text += {'\\', letter};
    else if (letter == '\n')
      text += "\\n";
    else if (code < 0x20 || code == 0x7F)
      text += fmt::format("\\u{:04x}", code);
    else
      text += letter;
  }
  return text + '"';
}

namespace {

// First and last of ranges: spaces other than the plain one, and what is not seen (Unicode's property
// Default_Ignorable_Code_Point, the empty Braille pattern, annotations). Two names with them may look the same.
constexpr std::pair<char32_t, char32_t> kInvisible[] = {
    {0x00A0, 0x00A0},   {0x00AD, 0x00AD},   {0x034F, 0x034F},   {0x061C, 0x061C}, {0x115F, 0x1160}, {0x1680, 0x1680},
    {0x17B4, 0x17B5},   {0x180B, 0x180F},   {0x2000, 0x200F},   {0x2028, 0x202F}, {0x205F, 0x206F}, {0x2800, 0x2800},
    {0x3000, 0x3000},   {0x3164, 0x3164},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB},
    {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

// Takes the first character of valid UTF-8.
char32_t take_letter(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  char32_t code = bytes == 1 ? lead : lead & (0xFFu >> (bytes + 1));
  for (const char next : text.substr(1, bytes - 1)) code = (code << 6) | (static_cast<unsigned char>(next) & 0x3Fu);
  text.remove_prefix(bytes);
  return code;
}

bool has_invisible(std::string_view text) {
  while (!text.empty()) {
    const char32_t code = take_letter(text);
    if (std::ranges::any_of(kInvisible, [&](const auto& r) { return code >= r.first && code <= r.second; }))
      return true;
  }
  return false;
}

}  // namespace

std::string name_fault(std::string_view name) {
  if (name.empty()) return "a name must not be empty";
  if (name == "." || name == "..") return "a name must not be . or ..";
  if (name.find('/') != name.npos) return "a name must not contain a slash";
  if (name.front() == ' ' || name.back() == ' ') return "a name must not begin or end with a space";
  if (printable(name, kLongestName) != name)
    return fmt::format("a name must be at most {} characters, all of them printable", kLongestName);
  if (has_invisible(name))
    return "a name must not contain characters that are invisible or look like a space; use plain spaces";
  return {};
}

}  // namespace trocar
