// Times of the last 180 frames, stage upon stage, with their medians; the session's query beside the OBB tree's.
// Units: milliseconds.
#pragma once

#include "app/session/session.hpp"
#include "app/window/stage_history.hpp"

namespace trocar {

// A panel top right.
void draw_plots(const StageHistory& history, const Session& session);

}  // namespace trocar
