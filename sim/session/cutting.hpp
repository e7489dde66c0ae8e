// The cutting parts of instruments: blades and hot hooks.
// Makes the region that the closing blades of scissors have swept: the sector between them when they were open widest,
// in the plane in which they turn, with a margin.
// Units: metres, degrees, world.   Tested in tests/sim/session/cutting_test.cpp
#pragma once

#include <span>
#include <vector>

#include "deform/cut/sculpt.hpp"
#include "deform/cut/slit.hpp"
#include "sim/session/instruments.hpp"

namespace trocar {

BladeCut blade_cut(const Instrument& instrument);

// Finds the hot metal of a hook in the motion of a frame, and the tissue that it touches. The bare wire alone decides:
// the shaft is insulated. Keeps the look of coagulated tissue.
// Units: metres, world frame.   Tested in tests/sim/session/cutting_test.cpp

// A hot piece of a hook in the instrument's frame: the points within `radius` of the segment.
struct MetalPart {
  glm::dvec3 from{0.0}, to{0.0};  // m
  double radius = 0.0;            // m
};

class HotWire {
 public:
  // Puts the bare metal of a hook with these parts into its poses during `motion`, close enough to leave no gaps.
  void move(const Instrument& instrument, const std::vector<PartShape>& shapes, const InstrumentMotion& motion);

  // Moves the metal by a dent of the tip: the nodes of the lattice lie where they meet the metal there.
  void shift(const glm::vec3& by);

  // Widens what cutting removes around the metal, m; a negative width takes it back.
  void widen(float by) {
    for (HotSegment& segment : cut_) segment.radius += by;
  }

  // Returns whether the metal comes within the spark gap of a face of the organ, or is inside its tissue, where it may
  // be far from any face. Uses the scratch buffers of the sculpture, which the organ must have.
  bool acts_on(Organ& organ) const;

  // Returns whether the metal comes within the spark gap of a face of the organ.
  bool touches(const Organ& organ) const;

  std::span<const HotSegment> metal() const { return metal_; }  // the metal itself
  std::span<const HotSegment> cut() const { return cut_; }      // what cutting removes around it

 private:
  void add(const MetalPart& part, const RigidFrame& frame, double reach);

  std::vector<MetalPart> parts_;
  std::vector<HotSegment> metal_, cut_;
  HeatBox box_;         // of the points within the spark gap of the metal
  double spark_ = 0.0;  // m
};

CoagulationParams coagulation_params(const HookParams& hook);
// Updates the look of the vertices in the box from the doses. Nothing gets paler again.
void show_coagulation(Organ& organ, const CoagulationBox& box);
// Does the same for the vertices of the latest change of the sculpture.
void show_coagulation_of_new(Organ& organ);

}  // namespace trocar
