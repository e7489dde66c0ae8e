// Bounds the frequencies that bonds add to organs, for the longest stable substep.
// With displacements scaled by the square roots of the masses, a fibre of stiffness k adds
//   k (g_a . u_a - g_b . u_b)^2 <= k (1 + t) (g_a . u_a)^2 + k (1 + 1 / t) (g_b . u_b)^2,   t = |g_b|^2 / |g_a|^2
// to the quadratic form of its two organs a and b, where g has the weights of an end over the roots of its nodes'
// masses. So the bonds of an organ are bounded by a matrix of its own, and the squares of all frequencies of bonded
// organs by the sum of its largest eigenvalue and that of the organ's lattice. Directions are left out: a fibre is
// taken to be as stiff across as along. t makes the bound exact for a single fibre. Units: 1/s^2.   Tested against the
// eigenvalues of the whole system in tests/deform/bond_stability_test.cpp
#pragma once

#include <span>
#include <vector>

#include "deform/bonds.hpp"

namespace trocar {

// Returns the bound for each organ, without the lattice; 0 for an organ without bonds. Broken fibres count too, so that
// the bound depends on the tissue alone. [organ] 1/s^2
std::vector<double> bond_squares(std::span<const TissueModel* const> models, const Bonds& bonds);

// Computes the slowdown. Call when all bonds are added, and after a cut: the nodes around it are lighter.
void measure_slowdown(std::span<const TissueModel* const> models, Bonds& bonds);

// Returns a bound of the squares of all frequencies of an organ without bonds, 1/s^2.
double own_square(const TissueModel& model);

}  // namespace trocar
