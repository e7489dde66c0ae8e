// A hand made of equations that holds the handle of a force-feedback device. Muscles pull the hand to where it wants to
// be, fingers hold the handle, the motors push the handle:
//   m h'' = K (t - h) - B h' + G (x - h) + D (x' - h')     h: hand, t: its target
//   M x'' =                    G (h - x) + D (h' - x') + F   x: handle, taken to the tip; F: felt
// Structure: two masses, the grip a spring and a damper between them, as in Fu, Cavusoglu, "Human-arm-and-hand-dynamics
// model with variability analyses for a stylus-based haptic interface", IEEE Trans. SMC B 2012. We differ: one mass for
// hand and arm, the same in every direction, parameters that do not change with the grip's force; the values are round
// ones of that order, not fitted to anybody.
// Semi-implicit Euler: both velocities from the forces of now, then both places from the new velocities. Against a wall
// of stiffness k a tick is stable exactly while 4 M - 2 dt C - dt^2 K (mass, damping and stiffness matrices, k in K's
// last entry) is positive definite: for any mode of it, lambda^2 m - (2 m - dt c - dt^2 k) lambda + (m - dt c) = 0 has
// both roots within the unit circle then and only then. stable_wall() solves it for k.
// Units: metres, kilograms, seconds, newtons.   Tested in tests/app/haptic_hand_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <string>

#include "app/device/contact_model.hpp"

namespace trocar {

struct HapticStubParams {
  double hand_mass = 0.10;         // kg     m, of hand and arm as felt at the tip, > 0
  double stiffness = 400.0;        // N/m    K, of the muscles: how firmly the hand goes to its target, > 0
  double damping = 12.0;           // N s/m  B, >= 0
  double handle_mass = 0.05;       // kg     M, of the device as felt at the tip, > 0
  double grip_stiffness = 1500.0;  // N/m    G, > 0
  double grip_damping = 6.0;       // N s/m  D, >= 0; not both dampings 0
  double rate = 1000.0;            // Hz     of the ticks, > 0
  ContactModelParams contact;      //        what is felt between frames
};

struct HapticState {
  glm::dvec3 tip{0.0}, velocity{0.0};        // m, m/s  of the handle: x
  glm::dvec3 hand{0.0}, hand_velocity{0.0};  // m, m/s  h
  glm::dvec3 felt_force{0.0};                // N, as applied in the last tick: F
  std::uint64_t ticks = 0;
};

// Hand and handle at rest at one place.
HapticState at_rest(const glm::dvec3& tip);

// Pure: one tick of `dt` s. A force stronger than the motors give is cut down, one that is not finite is none.
HapticState hand_tick(const HapticStubParams& params, const HapticState& state, const glm::dvec3& target,
                      const glm::dvec3& force, double dt);

// N/m  The stiffest wall against which ticks of `dt` are stable; negative: not even in the air.
double stable_wall(const HapticStubParams& params, double dt);

// Empty when all parameters are within their limits and the hand is stable against the contact model's greatest
// stiffness; else what is wrong and how to mend it.
std::string hand_fault(const HapticStubParams& params);

// J  of motion and springs, the contact's left out.
double hand_energy(const HapticStubParams& params, const HapticState& state, const glm::dvec3& target);

}  // namespace trocar
