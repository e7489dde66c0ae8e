// Tests candidate faces exactly against a moving part, in double: first time of contact, point, normal and depth.
// Every backend uses it except the reference, which has its own code (cpu_collision/part_reference.hpp).
// Method: conservative advancement (Mirtich, "Impulse-based dynamic simulation", thesis, Berkeley 1996). We differ: the
// step length comes from the velocity of each corner along the separating direction and a bound of the acceleration, so
// that a part that slides along a face takes few steps.
// Units: metres; time 1 = one step.   Checked against sampling and the reference in
// tests/cpu_collision/part_touch_test.cpp
#pragma once

#include <array>
#include <span>

#include "geometry/mesh_view.hpp"
#include "geometry/part.hpp"
#include "geometry/touch.hpp"

namespace trocar {

// A gap up to this counts as contact.
constexpr double kPartContact = 1e-8;  // m

// Returns the time in which a gap > 0 closes at `speed` with a constant acceleration >= 0; infinite when it never does.
double closing_time(double gap, double speed, double acceleration);

// A part in one pose: the world positions of its corners.
class PosedPart {
 public:
  PosedPart() = default;
  PosedPart(const PartShape& shape, const RigidFrame& frame);

  std::span<const glm::dvec3> corners() const { return {corners_.data(), count_}; }

 private:
  std::array<glm::dvec3, kMostCorners> corners_;
  std::size_t count_ = 0;
};

// A moving part, prepared for many faces.
struct PartSweep {
  MovingPart part;
  double acceleration = 0.0;  // m/step^2, upper bound
  PosedPart start, end;       // at MovingPart::from and MovingPart::end
};
PartSweep part_sweep(const MovingPart& part);

// Returns whether the part meets `face` during the interval. If so, fills `touch`, except `touch.face`.
bool part_touch(const PartSweep& sweep, const Triangle& face, Touch& touch);
// The same without `touch.depth`, which costs as much again.
bool part_meets(const PartSweep& sweep, const Triangle& face, Touch& touch);

}  // namespace trocar
