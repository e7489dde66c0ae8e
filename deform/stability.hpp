// How long a substep may be: the highest frequency of a lattice, and what symplectic Euler makes of it.
// Units: seconds, 1/s.   Tested in tests/deform/stability_test.cpp
#pragma once

#include <span>

#include "deform/tissue.hpp"

namespace trocar {

// Highest angular frequency, 1/s, of small motions about rest of the piece of the lattice that `cells` make with all
// the mass their nodes have, by power iteration: a few per cent low at most. No piece is faster than the whole.
double highest_frequency(const TissueModel& model, std::span<const std::uint32_t> cells);

// The longest stable substep, s. Symplectic Euler with elastic forces taken at x + beta v is stable while
// w^2 dt^2 + 2 beta w^2 dt < 4 for every frequency w; a fifth is kept back for large strain.
float longest_substep(const TissueParams& params, double frequency);

}  // namespace trocar
