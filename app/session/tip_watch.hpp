// Is an instrument's tip inside an organ, and how deep? Looked at after the tissue has moved, so that a depth is what
// the contact could not push away: an instrument pushed through an organ, or moved faster than tissue gives way. A tree
// over each organ's faces answers; it is fitted anew only in frames in which a tool touches the organ and its tip is in
// the organ's box. A tool that touches none of its faces is not in it: trocars are outside. Units: metres, world frame.
// Tested in tests/app/tip_watch_test.cpp
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "app/session/organ.hpp"
#include "cpu_collision/trees/surface_tree.hpp"

namespace trocar {

struct BuriedTip {
  std::uint32_t organ;
  float depth;    // m  to the nearest point of the surface, > 0
  glm::vec3 out;  // unit: the shortest way out
};

class TipWatch {
 public:
  // `tips`: m, [tool]. Of several organs that hold a tip, the one that holds it deepest. Allocates only where a
  // tip comes into an organ's box for the first time, or for the first time since its faces changed.
  void look(std::span<const Organ> organs, std::span<const glm::dvec3> tips);
  // Of the last look. [tool], empty when it is in no organ.
  std::span<const std::optional<BuriedTip>> buried() const { return buried_; }

 private:
  struct Watched {
    std::unique_ptr<SurfaceTree> tree;  // null until a tip comes near
    std::uint32_t topology = 0;         // of the organ when the tree was built
    bool fitted = false;                // to the positions of this look
  };

  SurfaceTree& tree_of(const Organ& organ, Watched& watched);

  std::vector<Watched> organs_;
  std::vector<std::optional<BuriedTip>> buried_;
};

}  // namespace trocar
