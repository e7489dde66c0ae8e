// Shows the table of keys in front of all other panels. Shown in tests/app/window_path_test.sh
#pragma once

namespace trocar {

// Draws the panel. Returns false when the user has closed it.
bool draw_help();

}  // namespace trocar
