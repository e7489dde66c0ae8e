// Makes the links of a report to the program in the browser, where the reader can try its task.
// Tested in tests/app/report_test.cpp
#pragma once

#include <string>
#include <vector>

namespace trocar {

struct TriedTask {
  std::string scene;  // name of the scene's file without its extension, "burn_line"; empty: not known
  std::string title;  // of the scene
};

// Returns a paragraph of HTML with a link to `page` for each different task; empty when `page` is empty or no scene is
// known. Throws InputError when `page` is not an http or https address without a fragment.
std::string try_links(const std::string& page, const std::vector<TriedTask>& tasks);

}  // namespace trocar
