// One sweep over all springs, each moving its two nodes towards its rest length: the loop the step spends its time in.
// With L the rest length, d the vector from a to b, l its length, q the change of d since the substep began, w the sum
// of the two inverse masses, K = stiffness dt^2 and B = damping dt, the nodes move by +m d / mass_a and -m d / mass_b,
// where
//   m = (K (l - L) + B q.d / l) / (l (1 + relaxation (K + B) w)).
// Units: metres, kilograms, seconds.   The vector path is tested bit for bit against the plain one in
// tests/deform/spring_sweep_test.cpp
#pragma once

#include "deform/tissue.hpp"

namespace trocar {

struct SweepNodes {
  float *x, *y, *z;                             // [node] m
  const float *before_x, *before_y, *before_z;  // [node] m, at the beginning of the substep
  const float* inverse_mass;                    // [node] 1/kg
};

struct SweepParams {
  float dt;          // s, > 0
  float relaxation;  // 1, 1/2 .. 1; see step.cpp
};

void sweep_springs(const TissueModel& model, const SweepNodes& nodes, const SweepParams& params);

// The same, spring by spring from the list, without vector registers: the slow twin.
void sweep_springs_plainly(const TissueModel& model, const SweepNodes& nodes, const SweepParams& params);

// The path of a machine without AVX2.
void sweep_springs_sse2(const TissueModel& model, const SweepNodes& nodes, const SweepParams& params);

// Which instructions sweep_springs uses on this machine: "avx2" or "sse2".
const char* sweep_instructions();

}  // namespace trocar
