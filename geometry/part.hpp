// Defines a part of an instrument (a jaw, a blade, the wire of a hook), its motion during a step, the volumes that
// cover this motion, and the exact test of candidate faces against it. A part is a convex polytope plus a ball: all
// points within `radius` of the convex hull of its corners. It moves with the instrument about the trocar, and turns
// about its hinge. Definitions: docs/method.md, "Parts". Units: metres, world frame unless a name says otherwise;
// radians; time 1 = one step. Tested in tests/cpu_collision/part_test.cpp
#pragma once

#include <array>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "geometry/frame.hpp"
#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"

namespace trocar {

// Returns the frame of an instrument at `pose`. The origin lies a radius beyond the tip; +z runs along the shaft
// towards the trocar. The axes are the smallest rotation that takes +z to the shaft, then the roll, clockwise as seen
// from the trocar. They are continuous except where the shaft points along the world's -z. Source: Duff et al.,
// "Building an orthonormal basis, revisited", 2017, without their case z < 0.   Tested in
// tests/sim/device/tool_shape_test.cpp
RigidFrame tool_frame(const ToolPose& pose, double roll);

constexpr std::size_t kMostCorners = 64;

// In the instrument's frame (tool_frame), with closed jaws.
struct PartShape {
  std::vector<glm::dvec3> corners;  // m   1 .. kMostCorners; their convex hull is the polytope
  std::vector<glm::uvec3> faces;    // of the hull, counter-clockwise seen from outside; the reference needs them
  double radius = 0.0;              // m   of the ball, >= kSmallestRadius
  double hinge_z = 0.0;             // m   z of the hinge, whose axis is parallel to x
  double side = 0.0;                // 1   the part turns by side * opening / 2 about its hinge: +1, -1, or 0: rigid
};

// An instrument at one instant. `opening`: angle between its two sides.
struct InstrumentPose {
  ToolPose shaft;
  double roll = 0.0, opening = 0.0;  // rad
};

// The motion of an instrument in a step. The tip moves on the straight line from tip_before to tip_after, and the shaft
// slides through the pivot, as for a ToolStep. The axes of its frame make the smallest rotation that follows the shaft
// (`swing` about `swing_axis` in all), while they turn about the shaft by `spin` and the sides open, both evenly.
struct InstrumentMotion {
  ToolStep shaft;
  RigidFrame start;                                  // the frame at time 0
  glm::dvec3 before{0.0};                            // unit, from pivot to tip_before
  glm::dvec3 swing_axis{0.0};                        // unit; 0 when the shaft keeps its direction
  double swing = 0.0;                                // rad, >= 0
  double spin = 0.0;                                 // rad, about the direction from trocar to tip
  double opening_before = 0.0, opening_after = 0.0;  // rad
};

// A swing above this angle in one step, or a tip nearer to the pivot than this, means that the instrument left the body
// and entered it again. Its parts then rest at their end pose during the step.
constexpr double kLargestPartSwing = 2.0;  // rad
constexpr double kNearestToPivot = 5e-3;   // m

// Returns the motion between two poses, with pivot and radius of `after`. Both must be valid (pose_fault).
InstrumentMotion instrument_motion(const InstrumentPose& before, const InstrumentPose& after);
// Returns the motion of an instrument that stays at `pose`.
InstrumentMotion instrument_at_rest(const InstrumentPose& pose);

// Returns the instrument's frame and its opening at `time` in [0, 1].
RigidFrame frame_at(const InstrumentMotion& motion, double time);
double opening_at(const InstrumentMotion& motion, double time);  // rad

// Returns the frame of a part at `time`: it takes the part's corners to the world.
RigidFrame frame_at(const InstrumentMotion& motion, const PartShape& shape, double time);

// Velocity of a part at one instant: point x of the part moves by linear + cross(angular, x - centre) per step.
struct PartVelocity {
  glm::dvec3 centre{0.0}, linear{0.0}, angular{0.0};  // m, m/step, rad/step

  glm::dvec3 at(const glm::dvec3& x) const { return linear + glm::cross(angular, x - centre); }  // m/step, of point x
};
PartVelocity velocity_at(const InstrumentMotion& motion, const PartShape& shape, double time);  // time in [0, 1]

// Upper bounds for every point of the part's polytope, without its ball, over the whole step.
struct MotionBounds {
  double speed = 0.0;         // m/step
  double acceleration = 0.0;  // m/step^2
};
MotionBounds motion_bounds(const InstrumentMotion& motion, const PartShape& shape);  // m/step, m/step^2

// The cover: boxes around the part in intervals of the step, which together contain every point that the part passes. A
// box is a tool volume like that of a shaft: half-spaces and an orthographic camera.

// A box exceeds the part's path by at most this much because the path is curved, unless most_pieces is reached.
struct PartCoverParams {
  double largest_sagitta = 2e-4;  // m, > 0
  int most_pieces = 4;            // 1, >= 1
};

// Returns the number of intervals into which the step of a part is divided.
int volume_count(const PartShape& shape, const InstrumentMotion& motion, const PartCoverParams& params = {});

// Returns the volume of a part in the interval `from` .. `to`. `motion` and `shape` must outlive the volume.
ToolVolume part_volume(const PartShape& shape, const InstrumentMotion& motion, double from, double to);

// Box with sides along the world's axes around the part during the whole step.
struct PartBounds {
  glm::dvec3 low, high;  // m
};
PartBounds part_bounds(const PartShape& shape, const InstrumentMotion& motion);  // m, world; ball included

// The exact test, in double. Every backend uses it except the reference, which has its own code
// (cpu_collision/reference.hpp). Method: conservative advancement (Mirtich, "Impulse-based dynamic simulation",
// thesis, Berkeley 1996). We differ: the step length comes from the velocity of each corner along the separating
// direction and a bound of the acceleration, so that a part that slides along a face takes few steps.

// A gap up to this counts as contact.
constexpr double kPartContact = 1e-8;  // m

// Returns the time in which a gap > 0 closes at `speed` with a constant acceleration >= 0; infinite when it never does.
double closing_time(double gap, double speed, double acceleration);

// A part in one pose: the world positions of its corners.
class PosedPart {
 public:
  PosedPart() = default;                                       // without corners
  PosedPart(const PartShape& shape, const RigidFrame& frame);  // frame: of the part, as frame_at() gives it

  std::span<const glm::dvec3> corners() const { return {corners_.data(), count_}; }  // [corner] m, world

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
PartSweep part_sweep(const MovingPart& part);  // part.shape is not null

// Returns whether the part meets `face` during the interval. If so, fills `touch`, except `touch.face`.
bool part_touch(const PartSweep& sweep, const Triangle& face, Touch& touch);
// The same without `touch.depth`, which costs as much again.
bool part_meets(const PartSweep& sweep, const Triangle& face, Touch& touch);

}  // namespace trocar
