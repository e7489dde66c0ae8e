// The implicit reference solver for rods and sheets: one step of implicit Euler, or the state at rest, by Newton's
// method with sparse direct solves (newton.hpp) on the energies of thin_energy.hpp. It is slow and serves to validate
// the real-time step; it uses the same models but none of its code. A step from u0, v0 to u over dt balances
//   m (u - u0 - dt v0) / dt^2 + drag m (u - u0) / dt + elastic slope at u + damping_time (u - u0) / dt = loads,
// u: positions, and the angles of edges with their inertia; a sheet's directions have none and are always in balance.
// Springs and supports act at u, a spring's anchor where it is at the end of the step. Contacts, friction and tears are
// not modelled. Fixed nodes keep their velocity, clamped edges of a rod their spin. Source: as implicit_reference.hpp.
// Units: metres, kilograms, seconds, newtons, radians.   Tested in tests/deform/thin_reference_test.cpp
#pragma once

#include <span>

#include "deform/reference/thin_energy.hpp"

namespace trocar {

struct ThinParams {
  double balance = 1e-11;     // N    largest residual: force on a node, or torque about an edge over its length, > 0
  int most_iterations = 200;  // 1    of Newton's method
};

struct ThinResult {
  double unbalanced = 0.0;  // N
  int iterations = 0;
  bool balanced = false;  // unbalanced <= ThinParams::balance
};

// Loads of a rod in the reference: springs beside those of a step.
struct RodReferenceLoads {
  RodLoads loads;
  std::span<const RodSpring> springs{};
};

// Advances by dt seconds. A sheet under pressure needs a rim that is fixed, as pressure has no energy otherwise: throws
// InputError.
ThinResult implicit_step(const RodModel& model, RodState& state, const RodReferenceLoads& loads, double dt,
                         const ThinParams& params = {});
ThinResult implicit_step(const SheetModel& model, SheetState& state, const SheetLoads& loads, double dt,
                         const ThinParams& params = {});

// Brings the state to rest under the loads (dt -> infinity), from the given state. Velocities become zero. Something
// must hold the tissue, also against turning. A torque about an edge that also turns across itself has no energy: the
// solver balances one only where such turns are small.
ThinResult implicit_equilibrium(const RodModel& model, RodState& state, const RodReferenceLoads& loads,
                                const ThinParams& params = {});
ThinResult implicit_equilibrium(const SheetModel& model, SheetState& state, const SheetLoads& loads,
                                const ThinParams& params = {});

}  // namespace trocar
