// Tests candidate faces exactly in double: computes the distance to the swept triangle, first-touch time, point, normal
// and depth. Steps of a part are passed on to part_touch.hpp. Every backend uses it except the reference, which has its
// own code (cpu_collision/reference.hpp). Units: metres; time 1 = one step.   Checked by sampling in
// tests/geometry/refine_test.cpp
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

// Returns the closest points of a segment (a point when both ends are equal) and a triangle (which may be degenerate).
ClosestPoints closest_segment_triangle(const glm::dvec3& p, const glm::dvec3& q, const Triangle& face);
// Returns the closest points of two triangles, either of which may be degenerate.
ClosestPoints closest_triangles(const Triangle& first, const Triangle& second);

// Returns whether `face` is within step.radius of the swept triangle. If so, fills `touch`, except `touch.face`.
bool refine_touch(const ToolStep& step, const Triangle& face, Touch& touch);

// Does the same for many candidate faces of one tool, four at a time, which is faster. Writes the touches, in the order
// of the candidates, to the front of `touches` and returns their number. `touches` must be as long as `candidates`; its
// entries after the last touch are unspecified. Does not allocate.
std::size_t refine_touches(const ToolStep& step, const MeshView& mesh, std::span<const FaceId> candidates,
                           std::span<Touch> touches);
// Does the same with the corners given: corners[i] belong to candidates[i].
std::size_t refine_touches(const ToolStep& step, std::span<const Triangle> corners, std::span<const FaceId> candidates,
                           std::span<Touch> touches);

}  // namespace trocar
