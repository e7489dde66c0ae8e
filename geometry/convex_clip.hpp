// Decides whether a face and a convex tool volume share a point, by an exact clip in double, plane by plane.
// Source: Sutherland, Hodgman, "Reentrant polygon clipping", CACM 1974. Shared by the backends that test candidate
// faces on the CPU; the reference has its own test (cpu_collision/reference.hpp). Units: metres.   Checked against
// separating directions in tests/geometry/convex_clip_test.cpp
#pragma once

#include <glm/glm.hpp>

#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"

namespace trocar {

// Returns true when the closed triangle and the closed volume share a point. Triangles degenerate to a point or line
// are allowed. Coordinates must be finite. Never throws, never allocates.
bool face_touches_volume(const Triangle& face, const ToolVolume& volume);

}  // namespace trocar
