// Lets a scripted trainee perform the task of a scene.
#pragma once

#include "sim/session/cpu_backends.hpp"
#include "sim/task/performed_session.hpp"
#include "tests/sim/task_support.hpp"

namespace trocar::test {

// Returns the result of the trainee.
inline TaskResult perform(const Scene& scene, const HandStyle& style, std::uint32_t seed) {
  CpuBackends backends;
  PerformedSession attempt(scene, style, seed, backends, "scan");
  while (!attempt.task().feed().finished) attempt.step();
  return attempt.task().result();
}

}  // namespace trocar::test
