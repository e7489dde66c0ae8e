// The dents of tools in a step, and of what jaws hold (solid/dent.hpp): their motion in a substep, and what the
// contacts of the step tell of the place. The contacts push the lattice one way and the dent of their tool the other.
// Units: metres, kilograms, seconds, newtons.   Tested in tests/deform/dent_test.cpp
#pragma once

#include <glm/glm.hpp>

#include "deform/step.hpp"

namespace trocar {

// Returns the modulus of a solid against a rigid tool, E* = E / (1 - nu^2), Pa.
float contact_modulus(const TissueParams& tissue);

// At the beginning of a step, after its contact points are prepared; and at its end, after the force per push is set.
void begin_dents(const TissueModel& model, const SteppedTissue& state, const TissueLoads& loads, TissueScratch& s);
void end_dents(const TissueModel& model, float dt, SteppedTissue& state);

// Moves the dents freely; contacts then push them.
void move_dents(const TissueModel& model, float dt, TissueScratch& s);
// Moves a dent by `push`; its speed follows.
void push_dent(const glm::vec3& push, float dt, DentScratch& dent);

}  // namespace trocar
