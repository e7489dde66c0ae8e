// Shows the table of keys, with the labels of the user's keyboard, in front of all other panels.
// Shown in tests/app/window_path_test.sh and tests/app/window_keys_test.sh
#pragma once

#include "app/window/input/keys.hpp"

namespace trocar {

// Draws the panel. Returns false when the user has closed it.
bool draw_help(const KeyLayout& layout);

}  // namespace trocar
