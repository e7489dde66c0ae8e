// The settings, changed while they are seen at work. Nothing is written to disk.
#pragma once

#include "app/window/practice.hpp"

namespace trocar {

// A panel in the middle. False: it wants to be closed.
bool draw_settings(Practice& practice, Quality quality, WindowSettings& settings);

}  // namespace trocar
