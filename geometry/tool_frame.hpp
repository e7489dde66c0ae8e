// Defines the frame of an instrument: its origin is the end of the tip, +z runs along the shaft towards the trocar.
// Source of the basis: Duff et al., "Building an orthonormal basis, revisited", 2017, without their case z < 0.
// Units: metres, world frame; radians.   Tested in tests/cpu_collision/part_motion_test.cpp and
// tests/sim/tool_shape_test.cpp
#pragma once

#include "geometry/frame.hpp"
#include "geometry/tool_volume.hpp"

namespace trocar {

// Returns the frame of an instrument at `pose`. The origin lies a radius beyond the tip. The axes are the smallest
// rotation that takes +z to the shaft, then the roll, clockwise as seen from the trocar. They are continuous except
// where the shaft points along the world's -z.
RigidFrame tool_frame(const ToolPose& pose, double roll);

}  // namespace trocar
