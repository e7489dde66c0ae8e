// Provides the ghost of a scene's task: from the user's cache folder or, where that has none, by letting the scripted
// expert perform the task without a picture, in a thread of low priority. What is ready can be shown at once: the
// expert performs faster than the trainee, so there is no wait.   Tested in tests/app/ghost_test.cpp
#pragma once

#include <filesystem>
#include <memory>

#include "app/window/ghost.hpp"
#include "sim/scene/scene.hpp"
#include "sim/support/task.hpp"

namespace trocar {

class GhostMaker {
 public:
  // Begins at once. The scene must have a task with an instrument; `folder`: the cache, empty: none.
  GhostMaker(const Scene& scene, std::filesystem::path folder);

  // Overwrites `poses` with those of the mode; empty: what is asked for is not computed yet. `time`: s since the start;
  // `progress`, `tips`: of the trainee.
  void pose(GhostMode mode, double time, double progress, std::span<const glm::vec3> tips,
            std::vector<GhostPose>& poses) const;
  // Whether the whole motion is known.
  bool complete() const;
  // Whether the thread has nothing more to add: the motion is complete, or the scene cannot be performed.
  bool ended() const;
  // Waits until the thread has ended.
  void wait();

 private:
  struct Shared;

  std::shared_ptr<Shared> shared_;  // with the thread, which may outlive the maker by a frame
  Task<bool> task_;
};

// Returns whether a scene's task can have a ghost: a task of the camera has none, because the ghost would be the eye.
bool can_have_ghost(const Scene& scene);

}  // namespace trocar
