// Writes a report's page from recordings, for `trocar report` and the window's results screen.
// Tested in tests/app/program_test.cpp and tests/app/window_path_test.sh
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace trocar {

// Writes a page that shows one recording in full, or several side by side, ordered by date. Returns the page's size in
// bytes. `force`: write over a page that exists. `try_at`: address of the program in the browser, to which the page
// links; empty: no link. Throws InputError for a file that is not a recording or cannot be written and for a wrong
// address, RunError when the disk is full.
std::size_t write_report(const std::vector<std::string>& recordings, const std::filesystem::path& page, bool force,
                         const std::string& try_at = {});

}  // namespace trocar
