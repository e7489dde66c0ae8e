// Computes the elastic law of the tissue: the springs and volumes of a lattice, the matrix of the law `rising`, and the
// longest stable substep. Units: metres, N/m, newtons, pascals, joules, seconds. Tested in
// tests/deform/tissue_test.cpp and elasticity_test.cpp
#pragma once

#include <array>
#include <glm/glm.hpp>
#include <span>
#include <vector>

#include "deform/solid/lattice.hpp"
#include "deform/solid/tissue.hpp"

namespace trocar {

// Springs: 13 directions (3 edges, 6 face diagonals, 4 body diagonals) in rows, and one volume per cell.
//
// Under a uniform small strain e a spring of stiffness k, length L and direction n stores k/2 (L n.e.n)^2, so a cell of
// volume h^3 has the elastic tensor C = sum k L^2 n n n n / h^3 over its 13 springs:
//   C11 = (k1 + 2 k2 + 4/3 k3) / h,   C12 = C44 = (k2 + 4/3 k3) / h       (k1 edges, k2 face, k3 body diagonals)
// Springs between pairs of points always give C12 = C44, so Poisson's ratio 1/4 (Cauchy). Isotropy requires C11 - C12 =
// 2 C44, that is k1 = k2 + 8/3 k3; the shear modulus of such a solid is C44. The ratio k3 : k2 is free; we use the
// weights of the D3Q27 lattice (2/27, 1/54, 1/216 times length^2), which are isotropic one order further. With mu = E /
// 2(1 + nu) the target shear modulus:
//   k1 = 4/3 mu h,   k2 = 2/3 mu h,   k3 = 1/4 mu h.
// Springs then give Lame's first constant mu; the volume term K (J - 1)^2 / 2 adds K. Poisson's ratio nu then requires
//   K = mu (2 nu / (1 - 2 nu) - 1).
// With the law `rising` springs carry the fraction spring_fraction() of this, the matrix the remainder. A spring sums a
// share from every cell around it, a volume belongs to its cell; both scale with the cell's volume fraction.
// Sources: Born, Huang, "Dynamical theory of crystal lattices", 1954 (pair forces, Cauchy relations); Qian, d'Humieres,
// Lallemand, "Lattice BGK models", Europhys. Lett. 17, 1992 (weights).

float shear_modulus(const TissueParams& params);   // Pa
float volume_modulus(const TissueParams& params);  // Pa, K of a full cell

// Fraction of the shear modulus that springs carry in a cell, 1.
float spring_fraction(TissueLaw law, float volume_fraction);

constexpr int kSpringDirections = 13;

// Returns the stiffness that one full cell adds to a spring along 1 (edge), 2 (face diagonal) or 3 (body diagonal)
// axes, N/m, when springs carry the whole shear modulus: four cells share an edge, two share a face diagonal.
float spring_share(const TissueParams& params, int axes);

// Fills spring_rows, stiffness, cell_rows, bulk and `place` from the lattice and the volume fraction of its cells.
void make_springs(TissueModel& model);

// Recomputes stiffness and bulk of the rows from the volume fraction of the cells around them, for springs with an end
// on one of `cells` only.
void refresh_springs(TissueModel& model, std::span<const std::uint32_t> cells);

// The law `rising`: tissue that stiffens with strain, or softens. Springs carry half of the shear stiffness, and a
// matrix that fills the cells carries the other half (spring_fraction). With a, b, c the edges of a cell over the
// spacing at the centroid of its tissue (cell_gradient), J = det(a b c) and I = |a|^2 + |b|^2 + |c|^2, it stores
//   h^3 (mu/4 psi(q) + K/2 (J - 1)^2),     q = I - 3 - 2 (J - 1)
//   psi(q) = q                     for q < 0 (swollen cells) or s = 0
//   psi(q) = (exp(s q) - 1) / s    for stiffening s > 0 (Demiray's form of Fung's exponential)
//   psi(q) = log(1 - s q) / -s     for s < 0
// and for q > 0 also r q^3 / 3, with the late stiffening r (Yeoh's third term).
//
// For incompressible tissue q is I - 3, so s = r = 0 is the neo-Hookean solid; a uniaxial stretch L has
// q = L^2 + 2/L - 3. At small strain e, q = 2 e:e - (tr e)^2: the matrix has shear modulus mu/2 and Lame's constant
// -mu/2, the springs have mu/2 and mu/2, so K is Lame's constant 2 mu nu / (1 - 2 nu). Young's modulus and Poisson's
// ratio are those stated.
//
// Half: springs resist the bending and twisting of a single cell, which the mean edges do not see. The springs of the
// law `springs` resist twisting exactly twice as much as the solid, and bending 3 / (1 + nu) times (unit cell: a field
// u = (k xy, 0, 0) stores mu k^2 / 4 in the springs and E k^2 / 24 in a bent solid). With half of them, thin parts bend
// and twist as they should on few cells. In a cell of volume fraction f the tissue resists bending as a full cell does
// where strain varies along its surface, and by f^2 where it varies across: springs carry f / 2, the geometric mean,
// the matrix the remainder, and adds (1 - f) mu to K.
//
// The edges of a cell do not vary along themselves, but a bent solid strains its surface most: at the middle of a cell
// that is half outside, strain would count as larger than it is in the tissue. So edge a of a cell whose centroid lies
// d spacings beside its middle along x is (1 - d) times its own and d times that of the next cell on that side, and so
// on for b along y and c along z. A cell without such a neighbour has its own edge.
//
// Sources: Fung, "Biomechanics: mechanical properties of living tissues", 1981; Demiray, "A note on the elasticity of
// soft biological tissues", J. Biomech. 5, 1972; Yeoh, "Some forms of the strain energy function for rubber", Rubber
// Chem. Technol. 66, 1993; Smith, de Goes, Kim, "Stable neo-Hookean flesh simulation", ACM TOG 37, 2018 (the term
// -2 (J - 1)); Belytschko, Bindeman, "Assumed strain stabilization of the eight node hexahedral element", CMAME 105,
// 1993 (a bent cell).

// Limits of TissueParams::stiffening and late_stiffening.
constexpr float kLeastStiffening = -10.f, kMostStiffening = 100.f, kMostLateStiffening = 100.f;  // 1

// The matrix stiffens by exp(3) = 20 times at most, and late by 20 times, so that the substep has a lower limit.
constexpr double kMostRise = 3.0;       // 1, of s q
constexpr double kMostLateRise = 20.0;  // 1, of r q^2

// The forces of the step are exact while the sum of the squared areas of a cell's mean sides, over that at rest, is
// below this: a cell pressed to 40 % of its thickness has 2.35.
constexpr float kLargestRisingSides = 2.6f;  // 1

// psi and its derivatives at q, 1.
struct Rise {
  double energy, slope, second;
};
Rise rise_of(double stiffening, double late_stiffening, double q);

// Returns the centroid of the tissue in each cell of the lattice, in 0..1 of the cell, from the volume fraction of 64
// parts; kept within kCentreMargin of the cell's sides, so that no node is without stiffness.
std::vector<glm::vec3> centres_of(const MeshView& organ, const Lattice& lattice);
constexpr float kCentreMargin = 0.1f;

// The edges a, b, c of a cell as weighted sums of nodes: edge k = sum of weight[k] * node, at the centroid of its
// tissue if the edges of cells vary linearly between their middles.
struct CellGradient {
  std::array<std::uint32_t, 20> node;  // its corners, then those of the neighbours
  std::array<glm::vec3, 20> weight;    // 1, of a, b, c
  std::size_t count = 8;
};
CellGradient cell_gradient(const TissueModel& model, std::size_t cell);

// Adds the forces of the matrix and of the volumes to force[node]. IEEE operations in the order of the cells.
void add_matrix_forces(const TissueModel& model, const NodeColumns& x, NodeColumns& force);

// Returns an upper bound of the stiffness of a cell over that at rest, over all cells, at least 1.
float stiffest_cell(const TissueModel& model, const NodeColumns& x);

// The longest stable substep, from the highest frequency of a lattice and the stability limit of symplectic Euler.

// Returns the highest angular frequency, 1/s, of small motions about rest of the part of the lattice that consists of
// `cells`, with the full mass of their nodes, by power iteration: at most a few per cent low. No part is faster than
// the whole.
double highest_frequency(const TissueModel& model, std::span<const std::uint32_t> cells);

// Adds K u of one cell at rest to f, N. `number`: [node] its place in u (m) and f; nodes of neighbours with kNoNumber
// do not move.
constexpr std::uint32_t kNoNumber = 0xffffffffu;
void add_rest_stiffness(const TissueModel& model, std::uint32_t cell, std::span<const std::uint32_t> number,
                        std::span<const glm::dvec3> u, std::span<glm::dvec3> f);

// Returns the longest stable substep, s. Symplectic Euler with elastic forces at x + beta v is stable while
// w^2 dt^2 + 2 beta w^2 dt < 4 for every frequency w; a fifth is kept in reserve for large strain.
float longest_substep(const TissueParams& params, double frequency);

}  // namespace trocar
