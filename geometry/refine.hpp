// Exact work on candidate faces in double: distance to the swept triangle, first-touch time, point, normal, depth.
// Shared by every backend except the reference, which has its own (cpu_collision/reference.hpp).
// Units: metres; time 1 = one step.   Checked by sampling in tests/geometry/refine_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <span>

#include "geometry/mesh_view.hpp"
#include "geometry/tool_volume.hpp"
#include "geometry/touch.hpp"

namespace trocar {

struct ClosestPoints {
  glm::dvec3 on_first, on_second;  // m
  double distance;                 // m
};

// Closest points of a segment (a point when both ends are equal) and a triangle (any degenerate one too).
ClosestPoints closest_segment_triangle(const glm::dvec3& p, const glm::dvec3& q, const Triangle& face);
// Closest points of two triangles, either of which may be degenerate.
ClosestPoints closest_triangles(const Triangle& first, const Triangle& second);

// Is `face` within step.radius of the swept triangle? Fills `touch` (all but `face`) when it is.
bool refine_touch(const ToolStep& step, const Triangle& face, Touch& touch);

// The same for many candidate faces of one tool, four at a time: the fast way. Writes the touches, in the order of the
// candidates, to the front of `touches` and returns how many. `touches` must have room for all candidates, and holds
// nothing of use behind the last touch. Nothing allocates.
std::size_t refine_touches(const ToolStep& step, const MeshView& mesh, std::span<const FaceId> candidates,
                           std::span<Touch> touches);
// The same with the corners at hand: corners[i] belong to candidates[i].
std::size_t refine_touches(const ToolStep& step, std::span<const Triangle> corners, std::span<const FaceId> candidates,
                           std::span<Touch> touches);

}  // namespace trocar
