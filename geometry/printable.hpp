// Makes text from a file or a command line fit for an error sentence: one line, printable, short. An error then shows
// what was found, and the text cannot control the user's terminal.   Tested in tests/geometry/printable_test.cpp
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trocar {

constexpr std::size_t kLongestQuote = 60;  // characters of a quoted word
constexpr std::size_t kLongestText = 200;  // characters of a text from another program or library

// Returns the text cut to at most `most` characters, with "..." after a cut. Control characters, invalid UTF-8 and
// characters that change the writing direction become '?'.
std::string printable(std::string_view text, std::size_t most = kLongestQuote);

// Returns the index of the first byte that is not part of a valid UTF-8 character; std::string_view::npos when there is
// none.
std::size_t first_invalid_utf8(std::string_view text);

}  // namespace trocar
