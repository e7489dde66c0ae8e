// The help: keys, tasks, scope and scoring, a tab each, in front of every screen.
// Shown in tests/app/window_keys_test.sh
#pragma once

#include "app/window/input/keys.hpp"

namespace trocar {

// Draws the panel, with the labels of the user's keyboard. `technical`: with the keys of the technical overlay. Returns
// false when the user has closed it.
bool draw_help(const KeyLayout& layout, bool technical);

}  // namespace trocar
