// Computes the task's score from the recording alone.
// Tested in tests/sim/observer_test.cpp
#pragma once

#include <optional>

#include "sim/hdf5/recording.hpp"
#include "sim/score/attempt.hpp"

namespace trocar {

// Returns the same bits as the TaskRun that saw the session from its first recorded frame on. Returns nothing when the
// recording's scene has no task, or when an organ or instrument of the task is not in the recording.
std::optional<TaskResult> score_task(const Recording& recording);

}  // namespace trocar
