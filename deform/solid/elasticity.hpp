// Computes the springs and volumes of a lattice: 13 spring directions (3 edges, 6 face diagonals, 4 body diagonals) in
// rows, and one volume per cell.
//
// Under a uniform small strain e a spring of stiffness k, length L and direction n stores k/2 (L n.e.n)^2, so a cell of
// volume h^3 has the elastic tensor C = sum k L^2 n n n n / h^3 over its 13 springs:
//   C11 = (k1 + 2 k2 + 4/3 k3) / h,   C12 = C44 = (k2 + 4/3 k3) / h       (k1 edges, k2 face, k3 body diagonals)
// Springs between pairs of points always give C12 = C44, so Poisson's ratio 1/4 (Cauchy). Isotropy requires
// C11 - C12 = 2 C44, that is k1 = k2 + 8/3 k3; the shear modulus of such a solid is C44. The ratio k3 : k2 is free; we
// use the weights of the D3Q27 lattice (2/27, 1/54, 1/216 times length^2), which are isotropic one order further.
// With mu = E / 2(1 + nu) the target shear modulus:
//   k1 = 4/3 mu h,   k2 = 2/3 mu h,   k3 = 1/4 mu h.
// Springs then give Lame's first constant mu; the volume term K (J - 1)^2 / 2 adds K. Poisson's ratio nu then requires
//   K = mu (2 nu / (1 - 2 nu) - 1).
// With the law `rising` springs carry the fraction spring_fraction() of this, the matrix the remainder (matrix.hpp).
// A spring sums a share from every cell around it, a volume belongs to its cell; both scale with the cell's fullness.
// Sources: Born, Huang, "Dynamical theory of crystal lattices", 1954 (pair forces, Cauchy relations); Qian, d'Humieres,
// Lallemand, "Lattice BGK models", Europhys. Lett. 17, 1992 (weights). Measured in tests/deform/elasticity_test.cpp
// Units: metres, N/m, Pa.
#pragma once

#include <array>
#include <vector>

#include "deform/solid/lattice.hpp"
#include "deform/solid/tissue.hpp"

namespace trocar {

float shear_modulus(const TissueParams& params);   // Pa
float volume_modulus(const TissueParams& params);  // Pa, K of a full cell

// Fraction of the shear modulus that springs carry in a cell, 1.
float spring_fraction(TissueLaw law, float fullness);

constexpr int kSpringDirections = 13;

// Returns the stiffness that one full cell adds to a spring along 1 (edge), 2 (face diagonal) or 3 (body diagonal)
// axes, N/m, when springs carry the whole shear modulus: four cells share an edge, two share a face diagonal.
float spring_share(const TissueParams& params, int axes);

// Returns the factor of a spring's share in a cell whose tissue has its centroid at `centre` (0..1): parallel springs
// share the stiffness so that its centroid is the same. `from`: corner offset of its first node, `d`: its direction.
float spring_weight(const glm::vec3& centre, const glm::ivec3& from, const glm::ivec3& d);

// The 28 springs of a cell between its corners.
struct CellSpring {
  int from, to;         // corners
  int direction, axes;  // 0 .. kSpringDirections - 1; 1 edge, 2 face diagonal, 3 body diagonal
};
const std::array<CellSpring, 28>& cell_springs();

// Fills spring_rows, stiffness, cell_rows, bulk and `place` from the lattice and the fullness of its cells.
void make_springs(TissueModel& model);

// Recomputes stiffness and bulk of the rows from the fullness of the cells around them, for springs with an end on one
// of `cells` only.
void refresh_springs(TissueModel& model, std::span<const std::uint32_t> cells);

}  // namespace trocar
