// Draws what holds organs over the picture of the scene editor: balls of attachments, lines of bands.
// Driven in tests/app/window_path_test.sh
#pragma once

#include "app/window/editor/editor.hpp"

namespace trocar {

// Draws the attachments of the selected organ (of all organs when an attachment is selected), and every band. `size`:
// pixels.
void draw_tissue_marks(const Editor& editor, const EditorEye& eye, const glm::dvec2& size);
// Returns whether these attachments are drawn and can be dragged.
bool shows_attachments(const Editor& editor, std::size_t organ);

}  // namespace trocar
