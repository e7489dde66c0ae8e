#include "geometry/error.hpp"

#include <cstdint>

namespace trocar {
namespace {

struct Letter {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

// Returns the UTF-8 character that `text` begins with.
Letter first_letter(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<std::uint8_t>(text[k]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  char32_t code = lead & (0xFFu >> (bytes + 1));
  for (std::size_t k = 1; k < bytes; ++k) {
    if ((byte(k) & 0xC0u) != 0x80u) return {};
    code = (code << 6) | (byte(k) & 0x3Fu);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return {code, bytes, !overlong && !surrogate && code <= 0x10FFFF};
}

bool is_printable(char32_t code) {
  if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return false;                          // control characters
  if (code == 0x061C || code == 0x200E || code == 0x200F || code == 0xFEFF) return false;  // direction marks
  return !(code >= 0x2028 && code <= 0x202E) && !(code >= 0x2066 && code <= 0x2069);       // line ends, overrides
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  std::string result;
  for (std::size_t count = 0; !text.empty(); ++count) {
    if (count == most) return result + "...";
    const Letter letter = first_letter(text);
    if (letter.valid && is_printable(letter.code))
      result += text.substr(0, letter.bytes);
    else
      result += '?';
    text.remove_prefix(letter.valid ? letter.bytes : 1);
  }
  return result;
}

std::size_t first_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Letter letter = first_letter(text.substr(at));
    if (!letter.valid) return at;
    at += letter.bytes;
  }
  return std::string_view::npos;
}

}  // namespace trocar
