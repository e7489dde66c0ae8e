// Simulates a human hand that holds the handle of a force-feedback device. The muscles pull the hand to its target, the
// fingers hold the handle, the motors push the handle:
//   m h'' = K (t - h) - B h' + G (x - h) + D (x' - h')     h: hand, t: its target
//   M x'' =                    G (h - x) + D (h' - x') + F   x: handle, measured at the tip; F: felt force
// Structure: two masses, the grip a spring and a damper between them, as in Fu, Cavusoglu, "Human-arm-and-hand-dynamics
// model with variability analyses for a stylus-based haptic interface", IEEE Trans. SMC B 2012. We differ: hand and arm
// are one mass, equal in every direction; the parameters do not depend on the grip force; the values are round numbers
// of the published order of magnitude, not fitted to a person.
// Integration: semi-implicit Euler, both velocities from the current forces, then both positions from the new
// velocities. Against a wall of stiffness k, a tick is stable if and only if 4 M - 2 dt C - dt^2 K (mass, damping and
// stiffness matrices, k added to the last entry of K) is positive definite: exactly then the polynomial of each mode,
// lambda^2 m - (2 m - dt c - dt^2 k) lambda + (m - dt c) = 0, has both roots within the unit circle. stable_wall()
// solves the condition for k.
// Units: metres, kilograms, seconds, newtons.   Tested in tests/sim/haptic_hand_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <string>

#include "sim/device/contact_model.hpp"

namespace trocar {

struct HapticStubParams {
  double hand_mass = 0.10;         // kg     m, effective mass of hand and arm at the tip, > 0
  double stiffness = 400.0;        // N/m    K, of the muscles that pull the hand to its target, > 0
  double damping = 12.0;           // N s/m  B, of the muscles, >= 0
  double handle_mass = 0.05;       // kg     M, effective mass of the device at the tip, > 0
  double grip_stiffness = 1500.0;  // N/m    G, > 0
  double grip_damping = 6.0;       // N s/m  D, >= 0; not both dampings 0
  double rate = 1000.0;            // Hz     tick rate, > 0
  ContactModelParams contact;      //        local contact model between frames
};

struct HapticState {
  glm::dvec3 tip{0.0}, velocity{0.0};        // m, m/s  of the handle: x
  glm::dvec3 hand{0.0}, hand_velocity{0.0};  // m, m/s  h
  glm::dvec3 felt_force{0.0};                // N        F, applied in the last tick
  std::uint64_t ticks = 0;
};

// Returns the state in which hand and handle are at rest at the same position.
HapticState at_rest(const glm::dvec3& tip);

// Computes one tick of `dt` s; a pure function. The force is limited to the strength of the motors; a force that is not
// finite counts as zero.
HapticState hand_tick(const HapticStubParams& params, const HapticState& state, const glm::dvec3& target,
                      const glm::dvec3& force, double dt);

// Returns the stiffness of the stiffest wall against which ticks of `dt` s are stable, N/m; negative: unstable even
// without contact.
double stable_wall(const HapticStubParams& params, double dt);

// Returns an empty text when all parameters are within their limits and the hand is stable against the contact model's
// greatest stiffness; else one sentence with the fault and its remedy.
std::string hand_fault(const HapticStubParams& params);

// Returns the kinetic energy plus the energy of the springs, without the contact, J.
double hand_energy(const HapticStubParams& params, const HapticState& state, const glm::dvec3& target);

}  // namespace trocar
