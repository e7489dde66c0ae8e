// Provides short tasks whose performances have golden hashes, and hashes what a frame leaves in the session.
#pragma once

#include <string>

#include "sim/loop/session_loop.hpp"
#include "sim/session/session.hpp"
#include "tests/same_bits/same_bits.hpp"
#include "tests/sim/task/task_support.hpp"

namespace trocar::test {

inline Scene short_task(const std::string& name, const TemporaryFolder& folder) {
  Scene scene = coarse_scene(name, folder);
  scene.task->time_good = 5.0, scene.task->time_limit = 9.0;
  return scene;
}

// The expert touches tissue within these tasks, the clumsy trainee does not.
inline PerformedSession golden_attempt(const Scene& scene, BackendMaker& backends) {
  return PerformedSession(scene, style_of(Skill::Expert), 7, backends, "scan");
}

inline void add_frame(const Session& session, Hash& hash) {
  for (const Organ& organ : session.organs()) {
    hash.add_all(organ.state.x), hash.add_all(organ.state.v), hash.add_all(organ.positions);
    hash.add(organ.topology);
    for (const glm::uvec3& face : organ.mesh.faces) hash.add(glm::dvec3(face));
    hash.add_all(organ.touches.touches);
    for (const float damage : organ.damage.peak) hash.add(double(damage));
  }
  for (const Instrument& instrument : session.instruments()) {
    hash.add(instrument.pose.pivot), hash.add(instrument.pose.tip), hash.add(instrument.force);
    hash.add(instrument.roll_deg), hash.add(instrument.grip);
  }
  hash.add(session.scope().pose.eye), hash.add(session.scope().pose.spin_deg);
  hash.add_all(session.marks());
}

}  // namespace trocar::test
