// Writes what the page shows as JSON (web/program/page_api.hpp).   Tested in tests/web/page_test.mjs
#pragma once

#include <string>

#include "web/program/page_run.hpp"

namespace trocar {

std::string version_text();
std::string tasks_text();  // Throws InputError for a damaged data folder.
std::string status_text(const PageRun& run, double draw_ms);
std::string result_text(const PageRun& run);

}  // namespace trocar
