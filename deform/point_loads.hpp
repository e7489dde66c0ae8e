// What tools and jaws do to single points of the surface within a step: position-level, one-sided for a tool, limited
// for a hold. A point is a weighted sum of lattice nodes; moving it moves the nodes by the transposed weights, each in
// inverse proportion to its mass.
// Units: metres, kilograms, seconds, newtons.   Tested in tests/deform/contact_test.cpp and hold_test.cpp
#pragma once

#include "deform/body.hpp"
#include "deform/tissue.hpp"

namespace trocar {

// The surface is left this deep inside the tool, so that the next query still sees the touch and the tissue does not
// spring back into an instrument that has not moved. At most a tenth of the tool's radius.
constexpr double kContactSlack = 1e-4;  // m

void prepare_point_loads(const TissueModel& model, const TissueLoads& loads, TissueScratch& s);
void solve_point_loads(const TissueModel& model, const TissueLoads& loads, const Substep& substep, TissueScratch& s);

}  // namespace trocar
