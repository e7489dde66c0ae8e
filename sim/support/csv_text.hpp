// Writes a text as a cell of a CSV file (RFC 4180). The cell is quoted if the text contains a comma, a quote or a line
// end. A spreadsheet takes a cell that begins with = + - @ as a formula, so an apostrophe precedes such a text. Numbers
// of the program are written without this function.
// Tested in tests/app/lab_attempt_test.cpp and tests/app/python_test.cpp
#pragma once

#include <string>

namespace trocar {

inline std::string csv_text(const std::string& text) {
  const bool formula = !text.empty() && std::string("=+-@\t\r\n").find(text.front()) != std::string::npos;
  const std::string harmless = formula ? "'" + text : text;
  if (harmless.find_first_of(",\"\r\n") == std::string::npos) return harmless;
  std::string quoted = "\"";
  for (const char c : harmless) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace trocar
