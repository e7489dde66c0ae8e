// Reads the results of a case from the files that its commands wrote.   Tested in tests/app/sweep_test.cpp
#pragma once

#include <filesystem>
#include <string>

#include "app/sweep/sweep_case.hpp"

namespace trocar {

// Returns the sentence of an error that a command wrote, without the path of the case's temporary folder.
std::string sentence_of(const std::filesystem::path& messages, const std::filesystem::path& scratch);

// Adds the values to the outcome. Results that are missing or cannot be read make a case fail that was done so far.
void read_results(ResultKind kind, const std::filesystem::path& scratch, CaseOutcome& outcome);

}  // namespace trocar
