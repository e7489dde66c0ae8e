#include "sim/support/byte_text.hpp"

#include <fmt/format.h>

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

}  // namespace trocar
