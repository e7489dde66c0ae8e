// Provides the ghost of a scene's task: from the user's cache folder or, where that has none, by letting the scripted
// expert perform the task without a picture, in a thread of low priority. What is ready can be shown at once: the
// expert performs faster than the trainee, so there is no wait.   Tested in tests/app/ghost_test.cpp
#pragma once

#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>

#include "app/window/ghost.hpp"
#include "sim/scene/scene.hpp"

namespace trocar {

class GhostMaker {
 public:
  // Begins at once. The scene must have a task with an instrument; `folder`: the cache, empty: none.
  GhostMaker(const Scene& scene, std::filesystem::path folder);
  ~GhostMaker();  // waits until the thread has ended
  GhostMaker(const GhostMaker&) = delete;
  GhostMaker& operator=(const GhostMaker&) = delete;

  // Overwrites `poses` with those of the mode; empty: what is asked for is not computed yet. `time`: s since the start;
  // `progress`, `tips`: of the trainee.
  void pose(GhostMode mode, double time, double progress, std::span<const glm::vec3> tips,
            std::vector<GhostPose>& poses) const;
  bool complete() const { return complete_; }
  // Ends the thread after its current frame, without waiting.
  void stop() { stop_ = true; }
  bool ended() const { return ended_; }
  void wait() { thread_.join(); }

 private:
  void make(const Scene& scene, const std::filesystem::path& folder);
  bool take_known(const Scene& scene, const std::filesystem::path& folder);
  void perform(const Scene& scene);

  mutable std::mutex mutex_;  // of ghost_
  Ghost ghost_;
  std::atomic<bool> complete_ = false, stop_ = false, ended_ = false;
  std::thread thread_;
};

// Returns whether a scene's task can have a ghost: a task of the camera has none, because the ghost would be the eye.
bool can_have_ghost(const Scene& scene);

}  // namespace trocar
