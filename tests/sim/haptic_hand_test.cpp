// Compares the simulated hand with the closed form of its two modes and with ticks a hundred times finer. Tests the
// hand at its bound of stability, and pressed against a stiff wall whose contact model is updated 60 times a second.
#include "sim/device/haptics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace trocar {
namespace {

constexpr double kTick = 1e-3;  // s

TEST(HandTick, SettlesWhereForceAndStiffnessBalance) {
  const HapticStubParams params;
  HapticState state;
  const glm::dvec3 target(0.01, 0, 0), force(0, -2.0, 0);
  for (int tick = 0; tick < 5000; ++tick) state = hand_tick(params, state, target, force, kTick);
  EXPECT_NEAR(state.tip.x, 0.01, 1e-9);
  EXPECT_NEAR(state.hand.y, -2.0 / params.stiffness, 1e-9);
  EXPECT_NEAR(state.tip.y, -2.0 / params.stiffness - 2.0 / params.grip_stiffness, 1e-9);
  EXPECT_NEAR(glm::length(state.velocity), 0.0, 1e-9);
}

TEST(HandTick, ForcesAreLimitedAndInvalidForcesAreZero) {
  const HapticStubParams params;
  EXPECT_NEAR(glm::length(hand_tick(params, {}, {}, {100, 0, 0}, kTick).felt_force), params.contact.largest_force,
              1e-12);
  for (const double bad : {std::nan(""), static_cast<double>(INFINITY)})
    EXPECT_EQ(hand_tick(params, {}, {}, {bad, 0, 0}, kTick).felt_force, glm::dvec3(0.0));
}

// With damping proportional to stiffness, hand and handle move in two modes with a closed form each.
struct TwoModes {
  static constexpr double kProportion = 0.004;  // s
  HapticStubParams params;
  double omega[2], share[2], handle[2];  // rad/s; fraction of the step; motion of the handle relative to the hand

  TwoModes() {
    params.damping = kProportion * params.stiffness;
    params.grip_damping = kProportion * params.grip_stiffness;
    const double a = (params.stiffness + params.grip_stiffness) / params.hand_mass,
                 d = params.grip_stiffness / params.handle_mass;
    const double product = params.stiffness * params.grip_stiffness / (params.hand_mass * params.handle_mass);
    const double root = std::sqrt(0.25 * (a + d) * (a + d) - product);
    for (int mode = 0; mode < 2; ++mode) {
      const double square = 0.5 * (a + d) + (mode == 0 ? -root : root);
      omega[mode] = std::sqrt(square);
      handle[mode] = (a - square) * params.hand_mass / params.grip_stiffness;
    }
    share[0] = (1.0 - handle[1]) / (handle[0] - handle[1]);
    share[1] = 1.0 - share[0];
  }
  // Returns the position of the handle at time t after the target steps from 0 to 1.
  double at(double t) const {
    double position = 1.0;
    for (int mode = 0; mode < 2; ++mode) {
      const double zeta = 0.5 * kProportion * omega[mode], damped = omega[mode] * std::sqrt(1.0 - zeta * zeta);
      position -= share[mode] * handle[mode] * std::exp(-zeta * omega[mode] * t) *
                  (std::cos(damped * t) + zeta * omega[mode] / damped * std::sin(damped * t));
    }
    return position;
  }
};

// Returns the largest difference between ticks and closed form, as a fraction of the step.
double step_error(double dt) {
  const TwoModes modes;
  HapticState state;
  double worst = 0.0;
  for (int tick = 1; tick * dt < 0.5; ++tick) {
    state = hand_tick(modes.params, state, {0.01, 0, 0}, glm::dvec3(0.0), dt);
    worst = std::max(worst, std::abs(state.tip.x / 0.01 - modes.at(tick * dt)));
  }
  return worst;
}

TEST(HandTick, FollowsTheClosedFormOfItsModes) {
  const double fine = step_error(1e-6), middle = step_error(1e-5), coarse = step_error(kTick);
  std::printf("error of the step response: %.5f %% at 1 us, %.4f %% at 10 us, %.2f %% at 1 ms\n", 1e2 * fine,
              1e2 * middle, 1e2 * coarse);
  EXPECT_LT(fine, 1e-4);
  EXPECT_NEAR(middle / fine, 10.0, 1.0);  // first order
  EXPECT_LT(coarse, 0.10);
}

// Compares the closed-form bound with ticks just below and just above it.
TEST(StableWall, IsTheBoundOfStability) {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  const auto between = [&](double low, double high) {
    return low * std::pow(high / low, std::uniform_real_distribution<double>()(random));
  };
  int tried = 0;
  while (tried < 40) {
    HapticStubParams params{between(0.02, 1.0), between(50, 3000), between(1, 30), between(0.01, 0.3),
                            between(100, 1e4),  between(0.5, 20),  1000.0,         {}};
    params.contact.largest_force = INFINITY;
    const double dt = between(2e-4, 8e-3), wall = stable_wall(params, dt);
    if (!(wall > 0.0)) continue;
    ++tried;
    for (const double share : {0.98, 1.02}) {
      HapticState state;
      state.hand = {1.0, 0, 0};
      // Largest motion in the third and in the last quarter: decaying motions have decayed by then.
      constexpr int kTicks = 40000;
      double third = 0.0, last = 0.0;
      for (int tick = 0; tick < kTicks && last < 1e12; ++tick) {
        state = hand_tick(params, state, glm::dvec3(0.0), -share * wall * state.tip, dt);
        const double size = std::abs(state.tip.x);
        if (tick >= kTicks / 2 && tick < 3 * kTicks / 4) third = std::max(third, size);
        if (tick >= 3 * kTicks / 4) last = std::max(last, size);
        if (size >= 1e12) last = INFINITY;  // has grown, in whichever quarter this is
      }
      EXPECT_EQ(last > third, share > 1.0) << "wall " << wall << " N/m, dt " << dt << " s";
    }
  }
}

TEST(StableWall, DefaultsAreStableAndFaultsAreSentences) {
  HapticStubParams params;
  std::printf("stable up to %.0f N/m at 1 kHz\n", stable_wall(params, kTick));
  EXPECT_GT(stable_wall(params, kTick), 10.0 * params.contact.greatest_stiffness);
  EXPECT_EQ(hand_fault(params), "");
  params.rate = 100.0;
  EXPECT_NE(hand_fault(params).find("raise its rate or masses"), std::string::npos) << hand_fault(params);
  for (double HapticStubParams::*const member :
       {&HapticStubParams::hand_mass, &HapticStubParams::handle_mass, &HapticStubParams::stiffness,
        &HapticStubParams::grip_stiffness, &HapticStubParams::damping, &HapticStubParams::rate})
    for (const double bad : {-1.0, std::nan("")}) {
      HapticStubParams faulty;
      faulty.*member = bad;
      EXPECT_NE(hand_fault(faulty), "");
    }
}

// Moves 12 mm into a wall within 0.3 s and stays there until 2 s. Frames update the contact model 60 times a second.
struct Pressed {
  std::vector<double> force;   // N  [ms]
  std::vector<double> energy;  // J  [ms]  above the energy at rest
  double jump = 0.0;           // N  between two ms, after the target has stopped
};

constexpr double kStands = 0.3;  // s

Pressed press(double stiffness, int ticks_per_ms) {
  const HapticStubParams params;
  const double chain = 1.0 / (1.0 / params.stiffness + 1.0 / params.grip_stiffness + 1.0 / stiffness);
  const double dt = kTick / ticks_per_ms;
  ContactModel contact;
  HapticState hand = at_rest({0, 0.002, 0});
  Pressed pressed;
  for (int ms = 0; ms < 2000; ++ms) {
    const auto wall = [&] { return std::max(0.0, -stiffness * hand.tip.y); };
    if (ms % 17 == 0)
      contact = updated(params.contact, contact, {{0.f, static_cast<float>(wall()), 0.f}, hand.tip, 0.0}, hand.tip,
                        ms * kTick);
    for (int k = 0; k < ticks_per_ms; ++k) {
      const double time = ms * kTick + k * dt;
      const glm::dvec3 target(0, 0.002 - 0.014 * std::min(time / kStands, 1.0), 0);
      hand = hand_tick(params, hand, target, felt_force(params.contact, contact, hand.tip, time), dt);
    }
    const double depth = std::max(0.0, -hand.tip.y);
    pressed.force.push_back(hand.felt_force.y);
    pressed.energy.push_back(hand_energy(params, hand, {0, -0.012, 0}) +
                             0.5 * (stiffness * depth * depth - chain * 0.012 * 0.012));
  }
  return pressed;
}

TEST(HandTick, ComesToRestAgainstAStiffWall) {
  for (const double stiffness : {150.0, 600.0, ContactModelParams{}.greatest_stiffness}) {
    const Pressed pressed = press(stiffness, 1), twin = press(stiffness, 100);
    double apart = 0.0, before = INFINITY;
    const double strongest = *std::max_element(pressed.force.begin(), pressed.force.end());
    for (std::size_t ms = 0; ms < pressed.force.size(); ++ms)
      apart = std::max(apart, std::abs(pressed.force[ms] - twin.force[ms]));
    // After the target has stopped: the greatest energy in each 0.1 s.
    for (auto ms = static_cast<std::ptrdiff_t>(kStands / kTick); ms < 2000; ms += 100) {
      const auto from = pressed.energy.begin() + ms;
      const double greatest = *std::max_element(from, from + 100);
      EXPECT_LE(greatest, before + 1e-9) << stiffness << " N/m at " << ms << " ms";
      before = greatest;
    }
    const HapticStubParams params;
    const double rest = 0.012 / (1.0 / params.stiffness + 1.0 / params.grip_stiffness + 1.0 / stiffness);
    std::printf("%.0f N/m: at most %.2f N, at rest %.3f N, finer ticks within %.3f N\n", stiffness, strongest,
                pressed.force.back(), apart);
    EXPECT_NEAR(pressed.force.back(), rest, 0.005 * rest);
    EXPECT_LT(strongest, 1.5 * rest);
    EXPECT_LT(apart, 0.05 * rest);
  }
}

}  // namespace
}  // namespace trocar
