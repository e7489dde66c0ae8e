// Draws the lists and the fields of the scene editor.
#pragma once

#include "app/window/editor.hpp"

namespace trocar {

// The list of the scene's parts, left; a click selects one.
void draw_parts(Editor& editor);
// The parameters of the selected part, right.
void draw_fields(Editor& editor);

}  // namespace trocar
