#include "sim/device/haptic_hand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trocar {
namespace {

glm::dvec3 motor_force(const glm::dvec3& force, double largest) {
  const double strength = glm::length(force);
  if (!std::isfinite(strength)) return glm::dvec3(0.0);
  return strength > largest ? largest / strength * force : force;
}

bool positive(double value) { return value > 0.0 && std::isfinite(value); }
bool not_negative(double value) { return value >= 0.0 && std::isfinite(value); }

}  // namespace

HapticState at_rest(const glm::dvec3& tip) {
  HapticState state;
  state.tip = state.hand = tip;
  return state;
}

HapticState hand_tick(const HapticStubParams& params, const HapticState& state, const glm::dvec3& target,
                      const glm::dvec3& force, double dt) {
  HapticState next = state;
  next.felt_force = motor_force(force, params.contact.largest_force);
  const glm::dvec3 muscles = params.stiffness * (target - state.hand) - params.damping * state.hand_velocity;
  const glm::dvec3 grip = params.grip_stiffness * (state.hand - state.tip) +
                          params.grip_damping * (state.hand_velocity - state.velocity);  // force on the handle
  next.hand_velocity += dt / params.hand_mass * (muscles - grip);
  next.velocity += dt / params.handle_mass * (grip + next.felt_force);
  next.hand += dt * next.hand_velocity;
  next.tip += dt * next.velocity;
  ++next.ticks;
  return next;
}

double stable_wall(const HapticStubParams& params, double dt) {
  const double coupling = 2.0 * dt * params.grip_damping + dt * dt * params.grip_stiffness;
  const double hand = 4.0 * params.hand_mass - 2.0 * dt * params.damping - dt * dt * params.stiffness - coupling;
  if (!(hand > 0.0)) return -INFINITY;
  return (4.0 * params.handle_mass - coupling - coupling * coupling / hand) / (dt * dt);
}

std::string hand_fault(const HapticStubParams& params) {
  if (!positive(params.hand_mass) || !positive(params.handle_mass) || !positive(params.stiffness) ||
      !positive(params.grip_stiffness) || !positive(params.rate))
    return "the masses, stiffnesses and rate of the simulated hand must be greater than 0";
  if (!not_negative(params.damping) || !not_negative(params.grip_damping) ||
      params.damping + params.grip_damping == 0.0)
    return "the dampings of the simulated hand must not be negative, and one must be greater than 0";
  const double wall = stable_wall(params, 1.0 / params.rate), needed = params.contact.greatest_stiffness;
  if (wall > needed) return {};
  return fmt::format(
      "at {:.0f} ticks per second the simulated hand is stable up to {:.0f} N/m, but the contact may have {:.0f} N/m; "
      "raise its rate or masses",
      params.rate, std::max(wall, 0.0), needed);
}

double hand_energy(const HapticStubParams& params, const HapticState& state, const glm::dvec3& target) {
  const glm::dvec3 stretch = target - state.hand, grip = state.hand - state.tip;
  return 0.5 * (params.hand_mass * glm::dot(state.hand_velocity, state.hand_velocity) +
                params.handle_mass * glm::dot(state.velocity, state.velocity) +
                params.stiffness * glm::dot(stretch, stretch) + params.grip_stiffness * glm::dot(grip, grip));
}

}  // namespace trocar
