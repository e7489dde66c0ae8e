// Shows the task's panel during an attempt: hint, picture of the step, warning, progress, time, errors, score.
// clock_text() is tested in tests/app/window_state_test.cpp
#pragma once

#include "app/window/step_pictures.hpp"
#include "sim/task/task_run.hpp"

namespace trocar {

// Draws a panel at the top left.
void draw_task(const TaskRun& task, StepPictures& pictures);

// Formats seconds, for example "1:05.3".
std::string clock_text(double seconds);

}  // namespace trocar
