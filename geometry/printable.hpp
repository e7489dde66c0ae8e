// Text from a file or a command line, made fit for a sentence: one line, printable, short. An error then says what was
// found and cannot be used to write to the user's terminal.   Tested in tests/app/input_test.cpp
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trocar {

constexpr std::size_t kLongestQuote = 60;  // characters of a word in a sentence
constexpr std::size_t kLongestText = 200;  // characters of a text that another program or library wrote

// At most `most` characters, "..." after a cut. Control characters, invalid UTF-8 and characters that turn the
// direction of writing become '?'.
std::string printable(std::string_view text, std::size_t most = kLongestQuote);

// Where the first byte is that does not belong to a UTF-8 character; std::string_view::npos when there is none.
std::size_t first_invalid_utf8(std::string_view text);

}  // namespace trocar
