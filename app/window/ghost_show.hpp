// Makes the ghost's instruments for the picture of practice sessions, one after the other. The ghost of a task lasts
// until another task needs one, so a restart does not compute it again.   Driven in tests/app/window_path_test.sh;
// tested in tests/app/ghost_test.cpp
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "app/view/drawn.hpp"
#include "app/window/practice/ghost.hpp"
#include "app/window/practice/practice.hpp"

namespace trocar {

class GhostShow {
 public:
  // Begins to compute the ghost of a scene that can have one, unless it is this scene's already. Never waits.
  void prepare(const Scene& scene);
  // Returns the instruments to draw now, valid until the next call. Where the ghost and an instrument coincide, the
  // ghost is not drawn. Never waits. Empty while it is off, in a demonstration, and for a task that can have none.
  std::span<const DrawnTool> tools(const Practice& practice, GhostMode mode);
  // Returns whether the last call asked for a part of the motion that is still being computed.
  bool waits() const { return waits_; }
  // Returns why there is no ghost although it is switched on, as a sentence; empty: there is one, or it is off.
  static std::string why_none(const Practice& practice, GhostMode mode);

 private:
  std::unique_ptr<GhostMaker> maker_;  // once a ghost was asked for
  std::string scene_;                  // text of its scene
  std::vector<glm::vec3> tips_;        // [instrument] m, of the trainee
  std::vector<GhostPose> poses_;       // [instrument]
  std::vector<DrawnTool> tools_;
  bool waits_ = false;
};

}  // namespace trocar
