// Lets a scripted trainee perform the task of a scene.
#pragma once

#include "app/compare/backends.hpp"
#include "sim/task/performer.hpp"
#include "sim/task/session_observer.hpp"
#include "tests/sim/task_support.hpp"

namespace trocar::test {

// Returns the result of a scripted trainee without a recording.
inline TaskResult perform(const Scene& scene, const HandStyle& style, std::uint32_t seed) {
  Performer performer(scene, style, seed);
  Backends backends;
  Session session(scene, backends, "scan", {},
                  [&](const InstrumentScene& instrument) { return performer.device_of(instrument.name); });
  session.set_scope_device(performer.scope_device());
  const TaskStage stage = stage_of(session);
  TaskRun task(*scene.task, stage);
  session.set_marks(task.marks());
  performer.begin(stage, task.marks());
  SessionObserver observer;
  const double dt = 1.0 / scene.frame_rate;
  for (std::size_t frame = 0; !task.feed().finished; ++frame) {
    const double time = static_cast<double>(frame) * dt;
    session.step({frame, time}, dt);
    const Observation& seen = observer.observe(session, time);
    task.step(seen);
    performer.see(seen, task.feed());
  }
  return task.result();
}

}  // namespace trocar::test
