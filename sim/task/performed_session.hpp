// A session in which a scripted trainee performs the task of a scene, frame by frame.
// Tested in tests/sim/performer_test.cpp
#pragma once

#include <string>

#include "sim/session/session.hpp"
#include "sim/task/performer.hpp"
#include "sim/task/session_observer.hpp"
#include "sim/task/task_run.hpp"

namespace trocar {

class PerformedSession {
 public:
  // The scene has a task. The backends must outlive the session. Errors: those of Session.
  PerformedSession(const Scene& scene, const HandStyle& style, std::uint32_t seed, BackendMaker& backends,
                   const std::string& backend);

  // Makes one frame, which the task and the trainee see.
  void step();

  Session& session() { return session_; }
  const TaskRun& task() const { return task_; }
  // The last frame, and its time in seconds.
  const Observation& seen() const { return *seen_; }
  double time() const { return time_; }

 private:
  double frame_time_;  // s
  Performer performer_;
  Session session_;
  TaskStage stage_;
  TaskRun task_;
  SessionObserver observer_;
  const Observation* seen_ = nullptr;
  std::size_t frame_ = 0;
  double time_ = 0.0;  // s
};

}  // namespace trocar
