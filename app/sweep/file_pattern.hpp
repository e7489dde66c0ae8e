// Expands a path with * in its last part to the files that match.   Tested in tests/app/sweep_plan_test.cpp
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace trocar {

// * stands for any characters, also none. A name that begins with a dot matches only a pattern that does.
bool matches(std::string_view pattern, std::string_view name);

// Returns the regular files below `folder` that match, as paths relative to it, sorted by their bytes.
std::vector<std::string> matching_files(const std::filesystem::path& folder, const std::string& pattern);

}  // namespace trocar
