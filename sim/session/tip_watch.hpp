// Decides after the tissue step whether an instrument's tip is inside an organ, and how deep. A depth is therefore a
// penetration that the contact could not resolve: an instrument pushed through an organ, or moved faster than the
// tissue yields. A tree over each organ's faces answers; it is refitted only in frames in which a tool touches the
// organ and its tip is in the organ's box. A tool that touches none of its faces is not inside it: trocars are outside.
// Units: metres, world frame.   Tested in tests/sim/tip_watch_test.cpp
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/session/organ.hpp"
#include "sim/session/organ_tree.hpp"

namespace trocar {

struct BuriedTip {
  std::uint32_t organ;
  float depth;    // m  to the nearest point of the surface, > 0
  glm::vec3 out;  // unit: direction of the shortest path out
};

class TipWatch {
 public:
  // Measures the depth of all tips. `tips`: m, [tool]. If several organs contain a tip, the one in which it is deepest
  // counts. Allocates only when a tip enters an organ's box for the first time, or for the first time since the organ's
  // faces changed.
  void look(std::span<const Organ> organs, std::span<const glm::dvec3> tips);
  // Returns the result of the last look(). [tool], empty when the tip is in no organ.
  std::span<const std::optional<BuriedTip>> buried() const { return buried_; }

 private:
  std::vector<OrganTree> organs_;
  std::vector<std::optional<BuriedTip>> buried_;
};

}  // namespace trocar
