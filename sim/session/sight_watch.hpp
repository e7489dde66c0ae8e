// Watches points against the surfaces of organs: what organs hide from the scope, and tips inside them.
// SightWatch decides at the touch query which points are hidden behind organs: tips of instruments and targets of a
// task. A point is hidden when the segment from the scope's lens to it crosses a face of any organ, seen from either
// side. A tree over each organ's faces answers; it is refitted only in frames in which a segment meets the organ's box.
// Units: metres, world frame.   Checked against all faces in tests/sim/session/sight_watch_test.cpp
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cpu_collision/trees/surface_tree.hpp"
#include "sim/session/organ.hpp"
#include "sim/session/surface_marks.hpp"

namespace trocar {

// A tree over an organ's faces that follows its changes and is refitted only in frames that ask for it.
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

// Decides after the tissue step whether an instrument's tip is inside an organ, and how deep. A depth is therefore a
// penetration that the contact could not resolve: an instrument pushed through an organ, or moved faster than the
// tissue yields. A tree over each organ's faces answers; it is refitted only in frames in which a tool touches the
// organ and its tip is in the organ's box. A tool that touches none of its faces is not inside it: trocars are outside.
// Units: metres, world frame.   Tested in tests/sim/session/sight_watch_test.cpp
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
