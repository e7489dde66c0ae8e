// The law `rising`: tissue that stiffens with strain, or softens. Springs carry half of the shear stiffness, and a
// matrix that fills the cells carries the other half (spring_fraction). With a, b, c the edges of a cell over the
// spacing, interpolated at the centroid of its tissue, J = det(a b c) and I = |a|^2 + |b|^2 + |c|^2, the matrix stores
//   h^3 (mu/4 psi(q) + K/2 (J - 1)^2),     q = I - 3 - 2 (J - 1)
//   psi(q) = q                     for q < 0 (swollen cells) or s = 0
//          = (exp(s q) - 1) / s    for stiffening s > 0 (Demiray's form of Fung's exponential)
//          = log(1 - s q) / -s     for s < 0
//            and for q > 0 also r q^3 / 3, with the late stiffening r (Yeoh's third term).
//
// For incompressible tissue q is I - 3, so s = r = 0 is the neo-Hookean solid; a uniaxial stretch L has
// q = L^2 + 2/L - 3. At small strain e, q = 2 e:e - (tr e)^2: the matrix has shear modulus mu/2 and Lame's constant
// -mu/2, the springs have mu/2 and mu/2, so K is Lame's constant 2 mu nu / (1 - 2 nu). Young's modulus and Poisson's
// ratio are those stated.
//
// Half: springs resist the bending and twisting of a single cell, which the mean edges do not see. The springs of the
// law `springs` resist twisting exactly twice as much as the solid, and bending 3 / (1 + nu) times (unit cell: a field
// u = (k xy, 0, 0) stores mu k^2 / 4 in the springs and E k^2 / 24 in a bent solid). With half of them, thin parts bend
// and twist as they should on few cells. In a cell of fullness f the tissue is thinner: springs carry f^2 / 2, the
// matrix the remainder, and adds (1 - f^2) mu to K.
//
// Sources: Fung, "Biomechanics: mechanical properties of living tissues", 1981; Demiray, "A note on the elasticity of
// soft biological tissues", J. Biomech. 5, 1972; Yeoh, "Some forms of the strain energy function for rubber", Rubber
// Chem. Technol. 66, 1993; Smith, de Goes, Kim, "Stable neo-Hookean flesh simulation", ACM TOG 37, 2018 (the term
// -2 (J - 1)); Belytschko, Bindeman, "Assumed strain stabilization of the eight node hexahedral element", CMAME 105,
// 1993 (a bent cell).
//
// Units: metres, newtons, pascals, joules.   Tested in tests/deform/matrix_test.cpp
#pragma once

#include <array>
#include <glm/glm.hpp>
#include <span>

#include "deform/solid/tissue.hpp"

namespace trocar {

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

// Returns the centroid of the tissue in each cell of the lattice, in 0..1 of the cell, from the fullness of 64 parts;
// kept within kCentreMargin of the cell's sides, so that no node is without stiffness.
std::vector<glm::vec3> centres_of(const MeshView& organ, const Lattice& lattice);
constexpr float kCentreMargin = 0.1f;

// Returns the derivatives of the corners' weights at `centre` with respect to its coordinates, 1. [corner]
std::array<glm::vec3, 8> corner_gradients(const glm::vec3& centre);

// Adds the forces of the matrix and of the volumes to force[node]. IEEE operations in the order of the cells.
void add_matrix_forces(const TissueModel& model, const NodeColumns& x, NodeColumns& force);

// Returns an upper bound of the stiffness of a cell over that at rest, over all cells, at least 1.
float stiffest_cell(const TissueModel& model, const NodeColumns& x);

// Adds K u of the matrix and the volume of one cell at rest to f, N (deform/stability).
void add_matrix_cell(const TissueParams& params, double fullness, const glm::vec3& centre,
                     const std::array<std::uint32_t, 8>& corners, std::span<const glm::dvec3> u,
                     std::span<glm::dvec3> f);

}  // namespace trocar
