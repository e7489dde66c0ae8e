// Bounds the frequencies of bonded organs, for the longest stable substep. With displacements scaled by the square
// roots of the masses, the stiffness of bonded organs is the sum of that of their lattices and that of the fibres, k (g
// . u)^2 for each fibre, where g has the weights of its ends over the roots of their nodes' masses. So no square of a
// frequency exceeds the sum of the largest square of the lattices and the largest eigenvalue of the fibres alone
// (Weyl's inequality). Directions are left out: a fibre is taken to be as stiff across as along.
// Units: 1/s^2.   Tested against the eigenvalues of the whole system in tests/deform/bond_stability_test.cpp
#pragma once

#include <span>

#include "deform/join/bonds.hpp"

namespace trocar {

// Returns the largest eigenvalue of the fibres and struts alone, with a small margin, 1/s^2; 0 without bonds. Broken
// fibres count too, so that it depends on the tissue alone.
double bond_square(std::span<const TissueModel* const> models, const Bonds& bonds);

// Computes the slowdown. Call when all bonds are added, and after a cut: the nodes around it are lighter.
void measure_slowdown(std::span<const TissueModel* const> models, Bonds& bonds);

// Returns a bound of the squares of all frequencies of an organ without bonds, 1/s^2.
double own_square(const TissueModel& model);

}  // namespace trocar
