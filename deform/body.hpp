// Declares the parts of a time step, so that several organs can be stepped together: begin_step, then `advance` for
// each substep, with the coupling between organs solved after each substep, then end_step. Units: metres, kilograms,
// seconds.   Tested through step() in tests/deform and OrganStepper in tests/deform/organs_step_test.cpp
#pragma once

#include "deform/solid/tissue.hpp"

namespace trocar {

struct Substep {
  int number, count;  // 1 .. count
  float dt;           // s
};

// Returns substep_count(model, dt), or more while tissue is crushed. Call it between begin_step and the first
// `advance`.
int substep_count(const TissueModel& model, const SteppedTissue& state, float dt);

void begin_step(const TissueModel& model, SteppedTissue& state, const TissueLoads& loads);
void advance(const TissueModel& model, SteppedTissue& state, const TissueLoads& loads, const Substep& substep);
void end_step(const TissueModel& model, SteppedTissue& state, const Substep& last, float dt);

}  // namespace trocar
