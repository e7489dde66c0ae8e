// Writes a text as a cell of a CSV file (RFC 4180). The cell is quoted if the text contains a comma, a quote or a line
// end.
// Tested in tests/app/python_test.cpp
#pragma once

#include <string>

namespace trocar {

inline std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace trocar
