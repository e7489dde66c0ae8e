// Does a face share a point with a convex tool volume? Exact clip in double, plane by plane.
// Source: Sutherland, Hodgman, "Reentrant polygon clipping", CACM 1974. Shared by the backends that settle candidate
// faces on the CPU; the reference has its own test (cpu_collision/reference.hpp). Units: metres.   Checked against
// separating directions in tests/geometry/convex_clip_test.cpp
#pragma once

#include <glm/glm.hpp>

#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"

namespace trocar {

// True when the closed triangle (point- and line-like ones too) and the closed volume share a point. Coordinates must
// be finite. Never throws, never allocates.
bool face_touches_volume(const Triangle& face, const ToolVolume& volume);

}  // namespace trocar
