// Checks the limits of a TOML text before the parser reads it, because the parser recurses into brackets, and its time
// grows with the square of the number of parts of a key. Brackets and keys inside strings and comments do not count.
// Tested in tests/app/input_test.cpp
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trocar {

struct TomlLimits {
  std::size_t bytes = std::size_t{1} << 20;  // of the whole text
  std::size_t line = std::size_t{64} << 10;  // bytes of a line
  std::size_t depth = 16;                    // nesting of brackets and braces
  std::size_t key_parts = 16;                // of a dotted key
  std::size_t keys = 20000;                  // keys and headers
  std::size_t values = 100000;               // elements of lists and inline tables
};

// Throws InputError with file, line and limit when the text exceeds a limit.
void refuse_excess(const std::string& file, std::string_view text, const TomlLimits& limits = {});

}  // namespace trocar
