// The dents of tools in a step (solid/dent.hpp): their motion in a substep, and what the contacts of the step tell of
// the place. The contacts push the lattice one way and the dent of their tool the other.
// Units: metres, kilograms, seconds, newtons.   Tested in tests/deform/dent_test.cpp
#pragma once

#include <glm/glm.hpp>

#include "deform/step.hpp"

namespace trocar {

// Returns 1 / b, 1/m, of the lattice where a contact lies: how far a point load moves it, times pi E*.
float lattice_closeness(const TissueModel& model, const PreparedPoint& c);

// At the beginning and at the end of a step.
void begin_dents(const TissueModel& model, const SteppedTissue& state, const TissueLoads& loads, TissueScratch& s);
void end_dents(const TissueModel& model, float dt, SteppedTissue& state);

// Moves the dents freely; contacts then push them.
void move_dents(const TissueModel& model, float dt, TissueScratch& s);
// Moves a dent by `push`; its speed follows.
void push_dent(const glm::vec3& push, float dt, DentScratch& dent);
}  // namespace trocar
