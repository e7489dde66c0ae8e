// What a trainee reads first of an attempt (sim/score/trainee_summary.hpp), from a session that runs, without a
// recording: the page in the browser has none. The values have the bits of the score of a recording. Units: metres,
// seconds, newtons.   Tested against recordings in tests/sim/task/observer_test.cpp
#pragma once

#include <vector>

#include "sim/scene/scene.hpp"
#include "sim/score/attempt.hpp"
#include "sim/score/track.hpp"
#include "sim/session/session.hpp"
#include "sim/task/task_run.hpp"

namespace trocar {

class LiveMeasures {
 public:
  // Takes the last frame of the session. `time`: on the clock of the score.
  void add(const Session& session, double time);
  // Returns an attempt with the metrics from which trainee_metrics() chooses, and no others. `task`: null without one.
  Attempt attempt(const Scene& scene, const TaskRun* task) const;

 private:
  struct Tool {
    std::string name;
    std::vector<glm::dvec3> tip, pivot;  // [frame] m
    std::vector<double> roll_deg;        // [frame]
    std::vector<char> out_of_view;       // [frame] 0 or 1
    std::vector<double> force;           // [frame] N
  };
  std::vector<double> times_;  // [frame] s
  std::vector<Tool> tools_;
};

}  // namespace trocar
