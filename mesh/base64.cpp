#include "mesh/base64.hpp"

#include <algorithm>
#include <cstdint>

namespace trocar {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Returns 0 to 63; -1 for a character that is no digit.
int value_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

}  // namespace

std::string base64(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t start = 0; start < bytes.size(); start += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - start);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < count ? std::to_integer<std::uint32_t>(bytes[start + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? kDigits[group >> (18 - 6 * k) & 63u] : '=';
  }
  return text;
}

std::optional<std::string> decoded_base64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t group = 0;
  int bits = 0;
  for (const char c : text) {
    const int digit = value_of(c);
    if (digit < 0) return {};
    group = group << 6 | static_cast<std::uint32_t>(digit), bits += 6;
    if (bits >= 8) bytes.push_back(static_cast<char>(group >> (bits -= 8) & 0xFF));
  }
  return bytes;
}

std::optional<std::vector<std::byte>> from_base64(std::string_view text) {
  const auto decoded = decoded_base64(text);
  if (!decoded) return {};
  const auto bytes = std::as_bytes(std::span(*decoded));
  if (base64(bytes) != text) return {};
  return std::vector(bytes.begin(), bytes.end());
}

}  // namespace trocar
