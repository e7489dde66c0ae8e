// Applies the loads of tools and jaws to single points of the surface within a step. The loads are position-based; a
// tool only pushes, and a hold has a force limit. A point is a weighted sum of lattice nodes; moving it moves the nodes
// by the transposed weights, each in inverse proportion to its mass. Units: metres, kilograms, seconds, newtons.
// Tested in tests/deform/contact_test.cpp, contact_press_test.cpp and grasp_test.cpp
#pragma once

#include "deform/body.hpp"
#include "deform/solid/tissue.hpp"

namespace trocar {

// The surface stays this deep inside the tool, so that the next query still detects the touch and the tissue does not
// bounce against an instrument at rest. At most a tenth of the tool's radius.
constexpr double kContactSlack = 1e-4;  // m

void prepare_point_loads(const TissueModel& model, const TissueLoads& loads, TissueScratch& s);
void solve_point_loads(const TissueModel& model, const TissueLoads& loads, const Substep& substep, TissueScratch& s);

}  // namespace trocar
