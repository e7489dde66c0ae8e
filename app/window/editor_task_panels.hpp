// Draws the fields of a task in the scene editor: its text, its limits and pass marks, what must not happen to an
// organ. Driven in tests/app/window_path_test.sh
#pragma once

#include "app/window/editor/editor.hpp"

namespace trocar {

void task_fields(Editor& editor);
// Target, force and tremor limits, times, and the thresholds of the task's kind.
void mark_fields(TaskScene& task);
void limit_fields(Editor& editor, TaskLimit& limit);

}  // namespace trocar
