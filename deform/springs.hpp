// Springs of a lattice: 13 directions (3 edges, 6 face diagonals, 4 body diagonals), coloured, grouped into runs.
//
// Stiffness from Young's modulus E and spacing h. Under a uniform small strain e a spring of length L and direction n
// stores k/2 (L n.e.n)^2, so a cell of volume h^3 has the elastic tensor C = sum k L^2 n n n n / h^3 over its 13
// springs:
//   C11 = (k1 + 2 k2 + 4/3 k3) / h,   C12 = C44 = (k2 + 4/3 k3) / h       (k1 edges, k2 face, k3 body diagonals)
// Springs between pairs of points always give C12 = C44, hence Poisson's ratio 1/4 (Cauchy). Equal in all directions
// means C11 - C12 = 2 C44, that is k1 = k2 + 8/3 k3; Young's modulus of such a solid is 5/2 C44. One freedom is left,
// k3 : k2; we take the weights of the D3Q27 lattice (2/27, 1/54, 1/216 times length^2), also isotropic one order
// further:
//   k1 = 16/30 E h,   k2 = 8/30 E h,   k3 = 3/30 E h.
// A spring takes its share from every cell around it, scaled by the cell's fullness.
// Source: Born, Huang, "Dynamical theory of crystal lattices", 1954 (pair forces, Cauchy relations); Qian, d'Humieres,
// Lallemand, "Lattice BGK models", Europhys. Lett. 17, 1992 (weights). Measured in tests/deform/elasticity_test.cpp
// Units: metres, N/m, Pa.
#pragma once

#include <vector>

#include "deform/lattice.hpp"
#include "deform/tissue.hpp"

namespace trocar {

struct ColouredSprings {
  std::vector<Spring> springs;         // as in TissueModel
  std::vector<std::uint32_t> colours;  // as in TissueModel
  std::vector<SpringRun> runs;         // as in TissueModel
};

ColouredSprings make_springs(const Lattice& lattice, float youngs_modulus);

}  // namespace trocar
