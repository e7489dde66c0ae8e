#include "sim/support/base64.hpp"

#include <algorithm>
#include <cstdint>

#include "mesh/mesh_io_text.hpp"

namespace trocar {

std::string base64(std::span<const std::byte> bytes) {
  static constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t start = 0; start < bytes.size(); start += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - start);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < count ? std::to_integer<std::uint32_t>(bytes[start + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? kLetters[group >> (18 - 6 * k) & 63u] : '=';
  }
  return text;
}

std::optional<std::vector<std::byte>> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return {};
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t start = 0; start < text.size(); start += 4) {
    const std::size_t digits = start + 4 < text.size() ? 4 : 4 - padding;
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const int digit = k < digits ? mesh_io::base64_digit(text[start + k]) : 0;
      if (digit < 0) return {};
      group = group << 6 | static_cast<std::uint32_t>(digit);
    }
    if (digits < 4 && (group & (digits == 2 ? 0xffffu : 0xffu)) != 0) return {};  // bits that belong to no byte
    for (std::size_t k = 0; k + 1 < digits; ++k) bytes.push_back(static_cast<std::byte>(group >> (16 - 8 * k) & 255u));
  }
  return bytes;
}

}  // namespace trocar
