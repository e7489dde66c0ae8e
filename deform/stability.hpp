// Computes the longest stable substep from the highest frequency of a lattice and the stability limit of symplectic
// Euler.
// Units: seconds, 1/s.   Tested in tests/deform/stability_test.cpp
#pragma once

#include <span>

#include "deform/solid/tissue.hpp"

namespace trocar {

// Returns the highest angular frequency, 1/s, of small motions about rest of the part of the lattice that consists of
// `cells`, with the full mass of their nodes, by power iteration: at most a few per cent low. No part is faster than
// the whole.
double highest_frequency(const TissueModel& model, std::span<const std::uint32_t> cells);

// Returns the longest stable substep, s. Symplectic Euler with elastic forces at x + beta v is stable while
// w^2 dt^2 + 2 beta w^2 dt < 4 for every frequency w; a fifth is kept in reserve for large strain.
float longest_substep(const TissueParams& params, double frequency);

}  // namespace trocar
