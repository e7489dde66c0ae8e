// Lets a scripted trainee perform the task of a scene.
#pragma once

#include "app/compare/backends.hpp"
#include "sim/task/performed_session.hpp"
#include "tests/sim/task_support.hpp"

namespace trocar::test {

// Returns the result of a scripted trainee without a recording.
inline TaskResult perform(const Scene& scene, const HandStyle& style, std::uint32_t seed) {
  Backends backends;
  PerformedSession attempt(scene, style, seed, backends, "scan");
  while (!attempt.task().feed().finished) attempt.step();
  return attempt.task().result();
}

}  // namespace trocar::test
