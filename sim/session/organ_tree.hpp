// A tree over an organ's faces that follows its changes and is refitted only in frames that ask for it.
// Used and tested through sim/session/tip_watch.hpp and sim/session/sight_watch.hpp
#pragma once

#include <cstdint>
#include <memory>

#include "cpu_collision/trees/surface_tree.hpp"
#include "sim/session/organ.hpp"

namespace trocar {

class OrganTree {
 public:
  // Call once a frame, before fitted().
  void begin_frame() { fitted_ = false; }
  // Follows the changes of a frame without a rebuild, if the tree was up to date before them; otherwise it is rebuilt
  // when it is next needed.
  void follow_change(const Organ& organ);
  // Returns the tree of the present faces and positions. Allocates when it is first called, or for the first time since
  // the faces changed.
  SurfaceTree& fitted(const Organ& organ);

 private:
  std::unique_ptr<SurfaceTree> tree_;  // null until it is first needed
  std::uint32_t topology_ = 0;         // of the organ when the tree last followed it
  bool fitted_ = false;                // to the positions of this frame
};

}  // namespace trocar
