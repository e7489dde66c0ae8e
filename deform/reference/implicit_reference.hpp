// Declares the implicit reference solver. It steps the tissue of tissue.hpp by implicit Euler in double, or brings it
// to rest, by Newton's method with sparse direct solves. It is slow and serves to validate the real-time step; it uses
// the same model but none of its code. A step from x0, v0 to x over dt puts every node that is not fixed in balance:
//   m (x - x0 - dt v0) / dt^2 + drag m (x - x0) / dt + elastic slope at x + damping_time (x - x0) / dt = m g + loads.
// Source: Baraff, Witkin, "Large steps in cloth simulation", SIGGRAPH 1998 (implicit Euler); Li et al., "Incremental
// potential contact", SIGGRAPH 2020 (step as a minimum; friction with the normal force of the previous iteration).
//
// Tools push by springs of `contact_stiffness`, holds by springs of `hold_stiffness` up to their limit. A contact that
// carries F newtons lets its point sink F / contact_stiffness into the tool (0.1 N: 5 micrometres). Tools have no
// dents: to compare with the real-time step, put them where their dents shift them. Friction lets the point creep at up
// to `creep` before it slides. The real-time step's treatment of crushed or swollen cells is not part of the energy and
// is not modelled here. Units: metres, kilograms, seconds, newtons.   Tested in tests/deform/elasticity_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <vector>

#include "deform/solid/tissue.hpp"

namespace trocar {

struct ImplicitParams {
  double contact_stiffness = 2e4;  // N/m  of each contact, > 0
  double hold_stiffness = 1e5;     // N/m  of each hold, > 0
  double creep = 1e-5;             // m/s  below this speed friction grows with the speed, > 0
  double balance = 1e-7;           // N    largest residual force on any node, > 0
  int most_iterations = 200;       // 1    of Newton's method
  int most_friction_rounds = 10;   // 1    how often the normal force of friction is updated
};

struct ImplicitState {
  std::vector<glm::dvec3> x, v;  // [node] m, m/s, world
  double time = 0.0;             // s, for the breathing
};

struct ImplicitResult {
  std::vector<glm::dvec3> tool_force;  // [tool] N, on the tool, at the end of the step
  std::vector<glm::dvec3> hold_force;  // [hold] N, on the instrument
  double unbalanced = 0.0;             // N, the largest residual force on any node
  double deepest = 0.0;                // m, depth of the deepest contact point inside its tool
  int iterations = 0;                  // Newton iterations in total
  bool balanced = false;               // unbalanced <= ImplicitParams::balance
};

ImplicitState implicit_rest(const TissueModel& model);

// Advances by dt seconds. Tools and holds act at their pose at the end of the step.
ImplicitResult implicit_step(const TissueModel& model, ImplicitState& state, const TissueLoads& loads, double dt,
                             const ImplicitParams& params = {});

// Brings the state to rest under the loads (dt -> infinity), without friction, starting from the given state.
// Velocities become zero and breathing stops. Something must hold the organ.
ImplicitResult implicit_equilibrium(const TissueModel& model, ImplicitState& state, const TissueLoads& loads,
                                    const ImplicitParams& params = {});

}  // namespace trocar
