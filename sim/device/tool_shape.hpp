// Defines the shape of an instrument in its own frame: its end lies at the origin, and +z runs along the shaft towards
// the trocar. The end lies a radius beyond the pose's tip, where the shaft's capsule ends too. Drawing and touch
// queries use the same parts. Every part is closed and convex, so that it is one piece of a touch query; a bent one
// (blade, hook) consists of several. Sizes of 5 mm laparoscopic instruments from makers' catalogues: grasper jaws about
// 16 mm, scissor blades and clip applier jaws about 14 mm, L-hook foot about 3 mm. Another radius scales the whole tip.
// Units: metres, degrees.   Tested in tests/sim/device/tool_shape_test.cpp
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cpu_collision/broad_phase/box.hpp"
#include "deform/contact/grasp.hpp"
#include "geometry/part.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"
#include "mesh/triangle_mesh.hpp"
#include "sim/device/joints.hpp"
#include "sim/scene/scene.hpp"

namespace trocar {

enum class ToolSurface { Steel, Jaw, Insulation, Ceramic, Wire };

struct ToolPart {
  TriangleMesh mesh;
  double hinge_z = 0.0;  // m   z of its hinge, whose axis is parallel to x
  double side = 0.0;     // 1   +1 opens towards +y, -1 towards -y, 0 does not turn
  ToolSurface surface = ToolSurface::Steel;
};

// Returns the parts from the tip to the hinge. radius: of the shaft, m.
std::vector<ToolPart> tip_parts(InstrumentKind kind, double radius);
// Returns the length of these parts: z where the shaft begins, m.
double tip_length(InstrumentKind kind, double radius);
// Returns the ferrule and the insulated tube from tip_length() to z = `length`, in pieces short enough for the lens
// distortion.
std::vector<ToolPart> shaft_parts(InstrumentKind kind, double radius, double length = 0.35);

// Returns the length of a hook's wire below its ceramic collar, which insulates what lies above. radius: of the shaft,
// m.
double bare_wire(double radius);

// Returns the transformation from part to world coordinates. grip: 0 closed .. 1 opened by limits.widest_grip_deg
// between the two sides.
glm::dmat4 part_pose(const ToolPose& pose, double roll_deg, double grip, const ToolPart& part,
                     const JointLimits& limits = {});

// Returns an ellipsoid around the organs, seen from inside: the abdominal wall. half_size: m.
TriangleMesh make_cavity(const glm::vec3& centre, const glm::vec3& half_size);

// Defines what an instrument touches with: its shaft, a capsule from the trocar to the hinge, and the parts of its tip
// (two jaws, the pieces of two blades, the wire, foot and collar of a hook), made from the drawn shape. A probe is one
// capsule from the trocar to its tip. Holds the motion of a frame and the volumes that cover it.
// Units: metres, world frame; degrees.   Tested in tests/sim/device/instrument_body_test.cpp

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

  // Moves the instrument in a frame. `before`: null when it rests at `now`. Static mode: as if it rested. The step must
  // be valid (step_fault). Allocates only until every part has had the most volumes.
  void move(const InstrumentStance* before, const InstrumentStance& now, ToolMode mode);

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

// Numbers the parts of all instruments of a session and collects the touches of each part from the answers about its
// volumes.   Tested in tests/sim/device/instrument_body_test.cpp

// The parts of all instruments, numbered in the order of the instruments; each instrument's first part is its shaft.
struct PartTable {
  std::vector<std::uint32_t> tool;   // [part]
  std::vector<std::uint32_t> first;  // [tool + 1] parts of tool k are first[k] .. first[k + 1]

  std::size_t size() const { return tool.size(); }
};

// Appends an instrument with this number of parts.
void add_tool(std::size_t parts, PartTable& table);

// The volumes of a frame and the parts that they cover.
struct FrameVolumes {
  std::span<const ToolVolume> volumes;            // sorted by part
  std::span<const std::uint32_t> part_of_volume;  // [volume]
  const PartTable& parts;
};

// The touches of each part: those of its volumes, each face once, at its first contact. Sorted by part, then face.
struct PartTouches {
  std::vector<Touch> touches;
  std::vector<std::uint8_t> part;                     // [touch] number of the part within its tool
  std::vector<std::uint32_t> part_first, tool_first;  // [part + 1], [tool + 1] offsets into the touches

  void clear();
};

// Collects the touches from an answer about `frame`. Allocates only for more touches than ever before.
void collect(const TouchList& answer, const FrameVolumes& frame, PartTouches& out);

// Lists the faces that any part of a tool except its shaft touches, sorted by tool, then face, each once; of a tool
// with one part, all its faces. `first`: [tool + 1] offset of each tool's faces.
void find_tip_faces(const PartTouches& touches, const PartTable& parts, std::vector<FaceId>& faces,
                    std::vector<std::uint32_t>& first);

}  // namespace trocar
