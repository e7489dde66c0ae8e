// What the task says while it happens: what to do now, what is wrong, how far, how long, how well.
#pragma once

#include "app/task/task_run.hpp"

namespace trocar {

// A panel top left.
void draw_task(const TaskRun& task);

// "1:05.3"
std::string clock_text(double seconds);

}  // namespace trocar
