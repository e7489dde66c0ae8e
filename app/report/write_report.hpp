// Recordings to a report's page: what `trocar report` and the window's results screen do.
// Tested in tests/app/program_test.cpp and tests/app/window_path_test.sh
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace trocar {

// One recording in full, or several side by side, in the order they were made. Returns the page's size in bytes.
// Errors: InputError for a file that is no recording or cannot be written, RunError when the disk did not take it all.
std::size_t write_report(const std::vector<std::string>& recordings, const std::filesystem::path& page);

}  // namespace trocar
