// Defines the errors that the user reads. Each is one sentence that says what is wrong, where, and what to do.
// InputError ends the program with status 2 (bad input or usage), RunError with status 1 (the run itself failed). Text
// from a file or a command line is made fit for such a sentence: one line, printable, short. The error then shows what
// was found, and the text cannot control the user's terminal. Tested in tests/geometry/elementary_test.cpp
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace trocar {

struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct RunError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

constexpr std::size_t kLongestQuote = 60;  // characters of a quoted word
constexpr std::size_t kLongestText = 200;  // characters of a text from another program or library

// Returns the text cut to at most `most` characters, with "..." after a cut. Control characters, invalid UTF-8 and
// characters that change the writing direction become '?'.
std::string printable(std::string_view text, std::size_t most = kLongestQuote);

// Returns the index of the first byte that is not part of a valid UTF-8 character; std::string_view::npos when there is
// none.
std::size_t first_invalid_utf8(std::string_view text);

}  // namespace trocar
