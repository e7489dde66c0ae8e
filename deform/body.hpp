// The parts of a time step, for whoever steps several organs side by side: begin_step, `advance` substep by substep
// with whatever couples the organs in between, end_step. Units: metres, kilograms, seconds.   Tested through step() in
// tests/deform and step_organs() in organ_contact_test.cpp
#pragma once

#include "deform/tissue.hpp"

namespace trocar {

struct Substep {
  int number, count;  // 1 .. count
  float dt;           // s
};

// Between begin_step and the first `advance`: what substep_count(model, dt) says, or more while tissue is crushed.
int substep_count(const TissueModel& model, const TissueState& state, float dt);

void begin_step(const TissueModel& model, TissueState& state, const TissueLoads& loads);
void advance(const TissueModel& model, TissueState& state, const TissueLoads& loads, const Substep& substep);
void end_step(const TissueModel& model, TissueState& state, const Substep& last, float dt);

}  // namespace trocar
