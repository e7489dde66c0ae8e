// Defines the shape of an instrument in its own frame: its end lies at the origin, and +z runs along the shaft towards
// the trocar. The end lies a radius beyond the pose's tip, where the shaft's capsule ends too. Drawing and touch
// queries use the same parts. Every part is closed and convex, so that it is one piece of a touch query; a bent one
// (blade, hook) consists of several. Sizes of 5 mm laparoscopic instruments from makers' catalogues: grasper jaws about
// 16 mm, scissor blades and clip applier jaws about 14 mm, L-hook foot about 3 mm. Another radius scales the whole tip.
// Units: metres, degrees.   Tested in tests/sim/tool_shape_test.cpp
#pragma once

#include <vector>

#include "geometry/part.hpp"
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

}  // namespace trocar
