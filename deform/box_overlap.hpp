// Decides whether a triangle shares a point with an axis-aligned box, by 13 separating axes: 3 of the box, 1 of the
// triangle, 9 of pairs of edges. Source: Akenine-Moller, "Fast 3D triangle-box overlap testing", Journal of Graphics
// Tools 6, 2001.
// Units: metres.   Tested against sampling in tests/deform/lattice_test.cpp
#pragma once

#include "geometry/mesh_view.hpp"

namespace trocar {

// Tests against the closed box with half sides `half` around `centre`. A degenerate triangle is treated as a segment or
// point.
bool triangle_touches_box(const Triangle& triangle, const glm::dvec3& centre, const glm::dvec3& half);

}  // namespace trocar
