// Decides at the touch query which points are hidden behind organs: tips of instruments and targets of a task. A point
// is hidden when the segment from the scope's lens to it crosses a face of any organ, seen from either side. A tree
// over each organ's faces answers; it is refitted only in frames in which a segment meets the organ's box.
// Units: metres, world frame.   Checked against all faces in tests/sim/sight_watch_test.cpp
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/session/hidden_points.hpp"
#include "sim/session/organ.hpp"
#include "sim/session/organ_tree.hpp"

namespace trocar {

// A point, and how far before it the segment ends.
struct SightPoint {
  glm::dvec3 at{0.0};   // m
  double before = 0.0;  // m
};
// A target lies on a face of its organ, which must not hide it, nor may the faces around it, which lie up to half a
// millimetre above or below the smooth surface. Tissue thinner than this hides no target.
constexpr double kBeforeTarget = 0.001;  // m
// A tip works in tissue, which rises around it and lies between its jaws. A tip that is covered by less than this many
// radii, the diameter of its shaft, counts as visible: the shaft beside it shows where it is.
constexpr double kBeforeTip = 2.0;  // radii

// Returns the end of the segment from the lens to a point; empty when the point is so near that nothing can hide it.
std::optional<glm::dvec3> sight_end(const glm::dvec3& eye, const SightPoint& point);

class SightWatch {
 public:
  // Looks from the lens at all points. Allocates only when a segment meets an organ's box for the first time, or for
  // the first time since the organ's faces changed.
  void look(std::span<const Organ> organs, const glm::dvec3& eye, std::span<const SightPoint> points);
  // Call after the changes of a frame: trees follow new faces without being rebuilt.
  void follow_changes(std::span<const Organ> organs);
  // Call when organs have been restored to another state.
  void forget() { organs_.clear(); }
  // Returns the result of the last look(). [point] 1: hidden
  std::span<const std::uint8_t> hidden() const { return hidden_; }

 private:
  std::vector<OrganTree> organs_;
  std::vector<std::uint8_t> hidden_;
};

}  // namespace trocar
