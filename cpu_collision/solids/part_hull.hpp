// Makes the shape of a part from the corners of its drawn mesh: a polytope of few corners plus a ball, close to the
// convex hull of the mesh.
// Units: metres.   Tested in tests/cpu_collision/part_hull_test.cpp and tests/sim/tool_shape_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <span>

#include "geometry/part.hpp"

namespace trocar::solids {

// Corners that lie within this distance of the hull of the other corners are left out.
constexpr double kNearlyInside = 3e-5;  // m

// Returns a shape without hinge. The points' hull is shrunk towards the centre of its box, so that polytope and ball
// together have the same box; `radius` of the ball is reduced to the box's smallest half side. Throws InputError when
// there is no point, a coordinate is not finite, or more than kMostCorners corners remain.
PartShape part_hull(std::span<const glm::vec3> points, double radius);

}  // namespace trocar::solids
