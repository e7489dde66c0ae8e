// Scores the task of a recording anew, from the recording alone.
// Tested in tests/app/observer_test.cpp
#pragma once

#include <optional>

#include "app/record/recording.hpp"
#include "app/score/attempt.hpp"

namespace trocar {

// The same result, bit for bit, as that of the TaskRun that saw the session from its first recorded frame on. Nothing
// when the recording's scene has no task, or when what the task is for was not recorded: an organ, an instrument.
std::optional<TaskResult> score_task(const Recording& recording);

}  // namespace trocar
