// Steps ducts and vessels that rods move (thin/tube.hpp) among other organs: finds what pushes and pulls the rods in a
// substep (instruments, jaws, clips, what they are fixed to), steps them, and carries the lattice nodes along.
// Fibres and other organs add their springs and contacts before (join/bonds.hpp, contact/organ_contact.hpp).
// Units: metres, kilograms, seconds, newtons.   Tested in tests/deform/tube_test.cpp
#pragma once

#include <span>

#include "deform/join/bonds.hpp"
#include "deform/step.hpp"

namespace trocar {

// Call at the beginning of a step, when the positions are split and contacts prepared.
void begin_tube(const TissueModel& model, const SteppedTissue& state, const TissueLoads& loads, TissueScratch& s);

// Adds where clips keep the walls of tubes pressed. Call after all tubes have begun the step.
void squeeze_with_clips(std::span<const TissueModel* const> models, std::span<SteppedTissue* const> states,
                        const Bonds& bonds);

void advance_tube(const TissueModel& model, SteppedTissue& state, const TissueLoads& loads, const Substep& substep);

// Forgets the springs of a substep. Call after fibres have read their forces.
void forget_springs(TissueScratch& s);

}  // namespace trocar
