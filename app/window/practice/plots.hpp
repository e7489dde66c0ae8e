// Plots the times of the last 180 frames, stacked by stage, with their medians. Plots the query time of the session's
// backend beside that of the OBB tree. Units: milliseconds.   Shown in tests/app/window_path_test.sh
#pragma once

#include "app/window/stage_history.hpp"
#include "sim/session/session.hpp"

namespace trocar {

// Draws a panel at the top right.
void draw_plots(const StageHistory& history, const Session& session);

}  // namespace trocar
