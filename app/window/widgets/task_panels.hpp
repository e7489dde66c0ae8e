// Panels about a task: during an attempt its state; after it the debrief, a list of its events, each of which opens its
// moment in the replay, and the errors before and after a moment.   Units: seconds, on the clock of the score.
// Tested in tests/app/window_test.cpp; driven in tests/app/window_path_test.sh
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/window/widgets/pictures.hpp"
#include "sim/score/attempt.hpp"
#include "sim/task/task_run.hpp"

namespace trocar {

// Draws a panel at the top left, during an attempt: hint, picture of the step, warning, progress, time, errors, score.
void draw_task(const TaskRun& task, StepPictures& pictures);

// Formats seconds, for example "1:05.3".
std::string clock_text(double seconds);

// The replay of an event begins so long before it: enough to see how it came about.
constexpr double kBeforeEvent = 2.0;  // s

// Returns the names by which a press can be addressed: "error 1", "event 1", "error 2", ... [event]
std::vector<std::string> event_names(std::span<const TaskEvent> events);

// Returns the time at which the replay of the next error begins, when it shows `now`; empty after the last one.
std::optional<double> next_error(std::span<const TaskEvent> events, double now);
// Does the same for the error before.
std::optional<double> previous_error(std::span<const TaskEvent> events, double now);

// Returns the error that a replay at `now` explains: the last one, from just before it to some seconds after; nullptr:
// none.
const TaskEvent* error_at(std::span<const TaskEvent> events, double now);

// Draws the events as lines and returns the number of the pressed one. `begin`: s, subtracted from the shown times;
// `now`: s, the line of the last event until then is highlighted; empty: none is.
std::optional<std::size_t> draw_events(std::span<const TaskEvent> events, double begin, std::optional<double> now);

}  // namespace trocar
