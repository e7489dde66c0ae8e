// Gives the state of a running session as a task sees it, after Session::step(). The marks are those of
// Session::set_marks().
// Tested against recordings in tests/sim/task/observer_test.cpp
#pragma once

#include <vector>

#include "sim/session/session.hpp"
#include "sim/task/observation.hpp"
#include "sim/task/task_run.hpp"

namespace trocar {

// Returns the data that a task needs before its start; it refers to the session's surfaces at rest.
TaskStage stage_of(const Session& session);

class SessionObserver {
 public:
  // Returns the session's last frame, at `time` of its clock. Allocates only in the first call.
  const Observation& observe(const Session& session, double time);

 private:
  std::vector<SeenTool> tools_;
  std::vector<SeenOrgan> organs_;
  std::vector<FibreEnds> fibre_ends_;  // [fibre]
  Observation seen_;
};

}  // namespace trocar
