// The panel of the settings, on the start screen and in a practice session, which adds those of its scene.
// Driven in tests/app/window_path_test.sh
#pragma once

#include <optional>

#include "app/window/input/keys.hpp"
#include "app/window/practice/practice.hpp"
#include "app/window/settings.hpp"

namespace trocar {

// Draws the panel in the centre. `practice`: the session that is shown, null: none; `quality`: of its picture now.
// Returns false when the user has closed it.
bool draw_settings(Practice* practice, std::optional<Quality> quality, const KeyLayout& keys, WindowSettings& settings);

}  // namespace trocar
