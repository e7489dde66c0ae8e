// The shape of an instrument in a frame of its own: its end at the origin, +z along the shaft towards the trocar. The
// end lies a radius beyond the pose's tip: there the shaft's capsule, which the tissue feels, ends too. The
// same parts are drawn and asked about. Every part is closed and convex, so that it is one piece of a touch query; a
// bent one (blade, hook) comes as several. Sizes after 5 mm laparoscopic instruments as makers list them: grasper jaws
// about 16 mm, scissor blades about 14 mm, L-hook foot about 3 mm. Another radius scales the tip as a whole.
// Units: metres, degrees.   Tested in tests/app/tool_shape_test.cpp
#pragma once

#include <vector>

#include "app/device/joints.hpp"
#include "app/scene/scene.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar {

enum class ToolSurface { Steel, Jaw, Insulation, Ceramic, Wire };

struct ToolPart {
  TriangleMesh mesh;
  double hinge_z = 0.0;  // m   it turns about the line x there
  double side = 0.0;     // 1   +1 opens towards +y, -1 towards -y, 0 does not turn
  ToolSurface surface = ToolSurface::Steel;
};

// What lies beyond the shaft, from tip to hinge. radius: of the shaft, m.
std::vector<ToolPart> tip_parts(InstrumentKind kind, double radius);
// How long that is: where the shaft begins, m.
double tip_length(InstrumentKind kind, double radius);
// Ferrule and insulated tube from there to z = `length`, cut in stretches short enough for a lens that bends lines.
std::vector<ToolPart> shaft_parts(InstrumentKind kind, double radius, double length = 0.35);

// World from tool. The origin is a radius beyond the tip. Free of jumps wherever the shaft does not point along the
// world's -z: the smallest turn that takes +z into the shaft, then the roll, clockwise as seen from the trocar.
glm::dmat4 tool_frame(const ToolPose& pose, double roll_deg);
// World from part. grip: 0 closed .. 1 opened by limits.widest_grip_deg between the two sides.
glm::dmat4 part_pose(const ToolPose& pose, double roll_deg, double grip, const ToolPart& part,
                     const JointLimits& limits = {});

// The inside of an ellipsoid: what stands behind the organs. half_size: m.
TriangleMesh make_cavity(const glm::vec3& centre, const glm::vec3& half_size);

}  // namespace trocar
