// The scene editor's lists and fields.
#pragma once

#include "app/window/editor.hpp"

namespace trocar {

// What the scene consists of; a click chooses. Left.
void draw_parts(Editor& editor);
// The numbers of what is chosen. Right.
void draw_fields(Editor& editor);

}  // namespace trocar
