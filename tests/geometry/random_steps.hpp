// Makes random tool steps for property tests: the whole range of a laparoscopic tool, and many steps around every case
// boundary. Units: metres.
#pragma once

#include <cmath>
#include <cstdint>
#include <glm/glm.hpp>
#include <numbers>
#include <random>
#include <vector>

#include "geometry/tool_volume.hpp"

namespace trocar::test {

using glm::dvec3;

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}

  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  double log_uniform(double low, double high) { return std::exp(uniform(std::log(low), std::log(high))); }
  // By the method of Lemire, ACM Trans. Model. Comput. Simul. 29, 2019, and not by the library's: the numbers are the
  // same with every library.
  int pick(int count) {
    const auto range = static_cast<std::uint32_t>(count);
    const std::uint32_t threshold = (0u - range) % range;
    std::uint64_t product;
    do product = (engine_() & 0xffffffffu) * std::uint64_t{range};
    while (static_cast<std::uint32_t>(product) < threshold);
    return static_cast<int>(product >> 32);
  }
  dvec3 in_cube(double half) { return {uniform(-half, half), uniform(-half, half), uniform(-half, half)}; }

  dvec3 direction() {
    for (;;) {
      const dvec3 at = in_cube(1.0);
      const double length = glm::length(at);
      if (length > 0.1 && length <= 1.0) return at / length;
    }
  }

  // Returns a unit direction perpendicular to d.
  dvec3 across(const dvec3& d) {
    for (;;) {
      const dvec3 side = glm::cross(d, direction());
      if (glm::length(side) > 0.1) return glm::normalize(side);
    }
  }

  // Includes directions along the world axes, where the upright direction of a camera changes.
  dvec3 shaft_direction() {
    dvec3 axis(0.0);
    switch (pick(8)) {
      case 0:
        axis[pick(3)] = pick(2) ? 1.0 : -1.0;
        return axis;
      case 1:
        axis.y = pick(2) ? 1.0 : -1.0;
        return glm::normalize(axis + log_uniform(1e-8, 1e-1) * direction());
      default:
        return direction();
    }
  }

 private:
  std::mt19937 engine_;
};

// Returns the step from an arm of length `before` to one of length `after` at an angle in radians, about the pivot.
inline ToolStep step_with(Dice& dice, const dvec3& pivot, double before, double after, double angle, double radius) {
  const dvec3 d = dice.shaft_direction(), side = dice.across(d);
  return {pivot, pivot + before * d, pivot + after * (std::cos(angle) * d + std::sin(angle) * side), radius};
}

// Returns a step of any kind: angles over all scales, arms from half a millimetre to 35 cm.
inline ToolStep random_step(Dice& dice) {
  const double before = dice.log_uniform(5e-4, 0.35), radius = dice.log_uniform(2e-4, 0.015);
  const double after = dice.pick(2) ? dice.log_uniform(5e-4, 0.35) : before * dice.uniform(0.8, 1.2);
  const double angle = dice.pick(2) ? dice.uniform(0.0, std::numbers::pi) : dice.log_uniform(1e-7, 1.0);
  return step_with(dice, dice.in_cube(0.3), before, after, angle, radius);
}

// Returns the volume of a random step: at rest, swept by the paper's cover or by capsules.
inline ToolVolume random_volume(Dice& dice) {
  const ToolStep step = random_step(dice);
  switch (dice.pick(3)) {
    case 0:
      return static_volume({step.pivot, step.tip_after, step.radius});
    case 1:
      return swept_volume(step, Cover::Paper);
    default:
      return swept_volume(step, Cover::Capsule);
  }
}

// Steps at and around every case boundary: angles near 0, 1e-4, 2 and pi; motion near 0 and two radii; retraction,
// insertion, exact ties, the tip behind the trocar, both tips on one line through the pivot.
inline std::vector<ToolStep> switch_steps(Dice& dice) {
  std::vector<double> angles;
  for (const double middle : {0.0, 1e-4, 2.0, std::numbers::pi}) {
    for (const double off : {0.0, 1e-15, 1e-12, 1e-9, 1e-7, 1e-6, 1e-5, 5e-5, 1e-3, 1e-2}) {
      angles.push_back(middle + off);
      angles.push_back(std::abs(middle - off));
    }
  }
  std::vector<ToolStep> steps;
  for (const double angle : angles) {
    for (const double ratio :
         {1.0, 1.0 + 1e-15, 1.0 - 1e-12, 1.0 + 1e-9, 1.0 + 1e-6, 0.999, 1.001, 0.5, 2.0, 0.01, 50.0}) {
      for (const double before : {0.002, 0.02, 0.2}) {
        if (before * ratio > 0.5) continue;
        for (const double radius : {0.0005, 0.0025, 0.01}) {
          steps.push_back(step_with(dice, dice.in_cube(0.3), before, before * ratio, angle, radius));
        }
      }
    }
  }
  // The tip moves almost exactly two radii, or hardly at all, in any direction.
  for (const double share : {0.0, 1e-12, 1e-9, 1e-6, 1e-3, 1.0 - 1e-3, 1.0 - 1e-9, 1.0, 1.0 + 1e-9, 1.0 + 1e-3}) {
    for (int repeat = 0; repeat < 200; ++repeat) {
      const double radius = dice.log_uniform(2e-4, 0.015);
      ToolStep step = step_with(dice, dice.in_cube(0.3), dice.log_uniform(1e-3, 0.3), 1.0, 0.0, radius);
      step.tip_after = step.tip_before + share * 2.0 * radius * dice.direction();
      if (step_fault(step).empty()) steps.push_back(step);
    }
  }
  return steps;
}

// Returns a point within the radius of the swept triangle; often on the outer surface, at a corner or a side.
inline dvec3 point_of_sweep(Dice& dice, const ToolStep& step) {
  double u = dice.uniform(0.0, 1.0), v = dice.uniform(0.0, 1.0);
  if (u + v > 1.0) u = 1.0 - u, v = 1.0 - v;
  switch (dice.pick(6)) {
    case 0:
      u = dice.pick(2), v = u > 0.5 ? 0.0 : dice.pick(2);
      break;
    case 1:
      u = 0.0;
      break;
    case 2:
      v = 1.0 - u;
      break;
    default:
      break;
  }
  const double reach = dice.pick(3) ? step.radius : step.radius * std::cbrt(dice.uniform(0.0, 1.0));
  return step.pivot + u * (step.tip_before - step.pivot) + v * (step.tip_after - step.pivot) + reach * dice.direction();
}

}  // namespace trocar::test
