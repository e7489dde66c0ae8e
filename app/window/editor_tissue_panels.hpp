// Draws the fields of what holds organs in the scene editor: attachments, layers and bands of connective tissue, the
// diaphragm.   Driven in tests/app/window_path_test.sh
#pragma once

#include "app/window/editor/editor.hpp"

namespace trocar {

void attachment_fields(Editor& editor, Attachment& attachment);
void layer_fields(Editor& editor, LayerScene& layer);
void band_fields(Editor& editor, BandScene& band);
void breathing_fields(Breathing& breathing);

}  // namespace trocar
