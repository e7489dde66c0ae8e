// Defines what an instrument touches with: its shaft, a capsule from the trocar to the hinge, and the parts of its tip
// (two jaws, the pieces of two blades, the wire, foot and collar of a hook), made from the drawn shape. A probe is one
// capsule from the trocar to its tip. Holds the motion of a frame and the volumes that cover it.
// Units: metres, world frame; degrees.   Tested in tests/sim/instrument_body_test.cpp
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cpu_collision/broad_phase/box.hpp"
#include "deform/contact/grasp.hpp"
#include "geometry/part.hpp"
#include "geometry/tool_volume.hpp"
#include "sim/device/tool_shape.hpp"

namespace trocar {

// Part 0 of every instrument.
constexpr std::uint32_t kShaftPart = 0;

// Returns the parts of the tip, in the instrument's frame; none for a probe.
std::vector<PartShape> part_shapes(InstrumentKind kind, double radius);

// Pose of an instrument with its joints, as devices give it.
struct InstrumentStance {
  ToolPose pose;
  double roll_deg = 0.0;
  double grip = 1.0;  // 1   0 closed .. 1 opened by JointLimits::widest_grip_deg
};

class InstrumentBody {
 public:
  // Makes the parts. This is work for load time: a few milliseconds.
  InstrumentBody(InstrumentKind kind, double radius, const JointLimits& limits);

  // Moves the instrument in a frame. `before`: null when it rests at `now`. Static mode: as if it rested. The poses
  // must be valid (step_fault). Allocates only until every part has had the most volumes.
  void move(const InstrumentStance* before, const InstrumentStance& now, ToolMode mode, Cover cover);

  std::size_t parts() const { return 1 + shapes_.size(); }
  const std::vector<PartShape>& shapes() const { return shapes_; }  // [part - 1]
  const InstrumentMotion& motion() const { return *motion_; }
  // Returns the jaws of an instrument that has some: its parts 1 and 2.
  Jaws jaws() const { return {&shapes_[0], &shapes_[1], widest_}; }
  // Volumes of the last move(), sorted by part; a part that turns far has several.
  std::span<const ToolVolume> volumes() const { return volumes_; }
  std::span<const std::uint32_t> part_of_volume() const { return part_of_volume_; }
  // Returns the whole motion of a part in the last move().
  const ToolStep& step(std::uint32_t part) const { return steps_[part]; }
  // Box around the motion of all parts.
  const broad::Box& box() const { return box_; }

 private:
  ToolPose shaft_of(const ToolPose& pose) const;
  InstrumentPose posed(const InstrumentStance& stance) const;
  void add_part(std::uint32_t part);

  std::vector<PartShape> shapes_;
  double widest_ = 0.0;                       // rad, opening at grip 1
  double shaft_end_ = 0.0;                    // m    z of the centre of the shaft's round end
  std::unique_ptr<InstrumentMotion> motion_;  // volumes point to it
  std::vector<ToolVolume> volumes_;
  std::vector<std::uint32_t> part_of_volume_;
  std::vector<ToolStep> steps_;  // [part]
  broad::Box box_;
};

}  // namespace trocar
