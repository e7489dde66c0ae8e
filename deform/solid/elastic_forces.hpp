// Computes the forces of springs and volumes on the lattice nodes. These loops take most of a step's time.
// A spring of stiffness k, rest length L and present vector d of length l pulls its ends together with k (l - L) d / l.
// A cell of volume modulus K with mean edges a, b, c and J = det(a b c) / h^3 pushes its corners apart with
// K (1 - J) / 4 (+-b x c +-c x a +-a x b). Springs never get stiffer than at rest. The stiffness of a volume would grow
// with the square of its sides and with its pressure; both are therefore bounded, far outside the range of sound
// tissue. This keeps the step stable under any load. The order of the sums depends on the model only.
// Units: metres, newtons, pascals.   The vector paths are compared bit for bit with each other, and with the
// energy's gradient in double, in tests/deform/tissue_test.cpp
#pragma once

#include "deform/solid/tissue.hpp"

namespace trocar {

// The volume term is exact while the sum of the squared areas of a cell's mean sides, over that at rest, is below this.
constexpr float kLargestSides = 1.15f;  // 1
// Change of J beyond which the pressure stays constant, upwards and downwards.
constexpr float kMostSwell = 0.5f, kMostShrink = 1.25f;  // 1

// Adds the elastic forces to force[node]. Both arrays need space for kLanes nodes more than the model has.
void add_elastic_forces(const TissueModel& model, const NodeColumns& x, NodeColumns& force);

// The versions for machines without and with AVX2. They give the same bits.
void add_elastic_forces_sse2(const TissueModel& model, const NodeColumns& x, NodeColumns& force);
void add_elastic_forces_avx2(const TissueModel& model, const NodeColumns& x, NodeColumns& force);

// Returns the instructions that add_elastic_forces uses on this machine: "avx2" or "sse2".
const char* force_instructions();

}  // namespace trocar
