// Computes the penetration depth of two convex bodies (the shortest translation that separates them) by separating
// axes. Only
// pairs of edges whose arcs of normals cross are tried, since only they bound the Minkowski difference of the two
// bodies. Source: thesis 4.5.4 (separating axes); arcs: Gregorius, "The separating axis test between convex
// polyhedra", GDC 2013. We differ: sheets, segments and points try all pairs of edges. Cost: O(faces x vertices +
// edges x edges). Units: metres, world.   Checked against all axes and by moving apart in
// tests/study/solids_penetration_test.cpp
#pragma once

#include "cpu_collision/solids/convex_body.hpp"
#include "geometry/frame.hpp"

namespace trocar::solids {

struct Penetration {
  // m. After a move of the second body by depth * normal the two bodies touch. Negative for two solid bodies that are
  // apart: the slab between them across the normal is then -depth thick. Sheets, segments and points must overlap.
  double depth = 0.0;
  glm::dvec3 normal{0.0, 0.0, 1.0};  // unit, from the first body to the second
  glm::dvec3 on_first, on_second;    // m    on the surfaces, `depth` apart along the normal, to a millionth of the size
};

// Computes the penetration. Allocates nothing.
Penetration penetration(const ConvexBody& first, const RigidFrame& first_pose, const ConvexBody& second,
                        const RigidFrame& second_pose);

}  // namespace trocar::solids
