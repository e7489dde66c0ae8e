// Writes the manual page and the completion of the shell from the table of commands and options.
// Tested in tests/app/manual_test.cpp
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace trocar {

// Returns the manual page of section 1 as roff text. `date`: as "2026-01-31".
std::string manual_page(const CLI::App& program, const std::string& version, const std::string& date);
// Returns a script for bash that completes commands, their options and files.
std::string bash_completion(const CLI::App& program);

}  // namespace trocar
