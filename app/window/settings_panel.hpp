// Shows the settings panel. Changes take effect at once, and nothing is written to disk.
// Shown in tests/app/window_path_test.sh
#pragma once

#include "app/window/practice.hpp"

namespace trocar {

// A panel in the centre. False: the user has closed it.
bool draw_settings(Practice& practice, Quality quality, WindowSettings& settings);

}  // namespace trocar
