// Computes the reference answer for a moving part: whether a face comes within the ball's radius of the polytope during
// an interval of the step. It shares no distance code and no search over time with the backends: the distance is that
// of pairs of triangles (reference.hpp), and the search bisects the time with a bound of the speed. Units: metres.
// Checked against closed forms and sampling in tests/cpu_collision/part_touch_test.cpp
#pragma once

#include "geometry/mesh_view.hpp"
#include "geometry/part.hpp"
#include "geometry/tool_volume.hpp"

namespace trocar {

// Returns the distance of a face from the polytope, without the ball, in one pose; 0 when they share a point.
double reference_part_distance(const PartShape& shape, const RigidFrame& pose, const Triangle& face);

// Returns the least distance minus radius over the interval. Within kBorderlineBand of 0 it is accurate to a quarter of
// that band; elsewhere only its sign is, and it may be any value beyond the band.
double reference_part_gap(const MovingPart& part, const Triangle& face);

}  // namespace trocar
