// Draws the lists and the fields of the scene editor.   Driven in tests/app/window_path_test.sh
#pragma once

#include "app/window/editor/editor.hpp"

namespace trocar {

// Draws the list of the scene's parts, at the left. A click selects a part.
void draw_parts(Editor& editor);
// Draws the parameters of the selected part, at the right.
void draw_fields(Editor& editor);

}  // namespace trocar
