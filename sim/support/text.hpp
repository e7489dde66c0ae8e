// Texts: names, bytes as text, base64.
// Tested in tests/sim/support/support_test.cpp and tests/app/files_test.cpp
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trocar {

// Writes bytes as text and reads them again, in base64 (RFC 4648 section 4).

std::string base64(std::span<const std::byte> bytes);
// Returns nothing when the text is not what base64() writes: other characters, no padding, or bits beyond the last
// byte.
std::optional<std::vector<std::byte>> from_base64(std::string_view text);

// Names of files may hold bytes that are not UTF-8; JSON, TOML and PostgreSQL take UTF-8 only. Here such bytes become
// characters of a private range, and back. Other text stays as it is.

// Returns valid UTF-8: each byte that belongs to no valid character becomes U+F700 + byte, and so do the bytes of a
// character of that range (U+F780 .. U+F7FF), so that no two texts become the same one.
std::string text_of_bytes(std::string_view bytes);
// Returns the bytes from which text_of_bytes() made the text.
std::string bytes_of_text(std::string_view text);

// Returns the bytes as a string of JSON and of TOML, with its quotes. A reader gives its text to bytes_of_text().
std::string quoted_text(std::string_view bytes);

// Checks the names of organs, instruments and marks. A name becomes a group and a text line of a recording, a cell of a
// table and a label in the window.

constexpr std::size_t kLongestName = 60;  // characters

// Returns an empty text for a valid name, else what is wrong with it, as part of a sentence.
std::string name_fault(std::string_view name);

}  // namespace trocar
