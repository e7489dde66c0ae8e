// Shows the settings panel. Changes take effect at once, and nothing is written to disk.
// Shown in tests/app/window_path_test.sh
#pragma once

#include "app/window/input/keys.hpp"
#include "app/window/practice/practice.hpp"

namespace trocar {

// Draws a panel in the centre. Returns false when the user has closed it.
bool draw_settings(Practice& practice, Quality quality, const KeyLayout& keys, WindowSettings& settings);

}  // namespace trocar
