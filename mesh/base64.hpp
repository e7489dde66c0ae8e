// Bytes as text in base64 (RFC 4648 section 4).   Tested in tests/sim/support/support_test.cpp
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trocar {

// Writes bytes as text, with padding.
std::string base64(std::span<const std::byte> bytes);
// Returns nothing when the text is not what base64() writes: other characters, no padding, or bits beyond the last
// byte.
std::optional<std::vector<std::byte>> from_base64(std::string_view text);
// Returns the bytes of any writer's digits: padding may be absent or too long, bits beyond the last byte are dropped.
// Returns nothing for a character that is no digit.
std::optional<std::string> decoded_base64(std::string_view text);

}  // namespace trocar
