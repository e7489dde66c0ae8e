// Makes beams of tissue and computes their results in beam theory, for tests and benchmarks.
// Source: Timoshenko, "Strength of materials", 1930; Cowper, "The shear coefficient in Timoshenko's beam theory", 1966.
// Units: metres, newtons, seconds.   Tested in tests/deform/beam_test.cpp
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/deform/tissue_measures.hpp"

namespace trocar::test {

// Returns the end deflection of a cantilever of square section under its own weight, by bending and shear.
inline double beam_deflection(const TissueParams& p, double length, double side) {
  const double nu = p.poisson_ratio, shear = p.youngs_modulus / (2.0 * (1.0 + nu));
  const double coefficient = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu);
  const double load = p.density * glm::length(p.gravity);  // per length and area
  return load * std::pow(length, 4) / (8.0 * p.youngs_modulus * side * side / 12.0) +
         load * length * length / (2.0 * coefficient * shear);
}

// Returns the period of the first mode, from those of a thin beam and of a pure shear beam in series (Dunkerley).
inline double beam_period(const TissueParams& p, double length, double side) {
  const double nu = p.poisson_ratio, shear = p.youngs_modulus / (2.0 * (1.0 + nu));
  const double coefficient = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu);
  const double bending =
      1.8751 * 1.8751 * std::sqrt(p.youngs_modulus * side * side / (12.0 * p.density)) / (length * length);
  const double shearing = std::numbers::pi / (2.0 * length) * std::sqrt(coefficient * shear / p.density);
  return 2.0 * std::numbers::pi * std::sqrt(1.0 / (bending * bending) + 1.0 / (shearing * shearing));
}

inline double column_sag(const TissueParams& p, double length) {
  return p.density * glm::length(p.gravity) * length * length / (2.0 * p.youngs_modulus);
}

inline TissueModel cantilever(const Bar& bar, const TissueParams& params) {
  TissueModel model = make_tissue(bar.mesh().view(), params, {});
  fix_end(model, bar, -1.0);
  return model;
}

// Returns the length from the last fixed node to the end. Where no nodes lie in the end's plane, this is shorter than
// the bar.
inline double free_length(const TissueModel& model, const Bar& bar) {
  double root = -0.5 * bar.size.x;
  for (std::size_t i = 0; i < model.rest.size(); ++i)
    if (model.inverse_mass[i] == 0.f) root = std::max(root, bar.along(model.rest[i]));
  return 0.5 * bar.size.x - root;
}

// Returns the mean displacement of the free end's nodes.
inline glm::dvec3 end_movement(const TissueModel& model, const Bar& bar, const Positions& x) {
  glm::dvec3 sum(0.0);
  double count = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (bar.along(model.rest[i]) > 0.5 * (bar.size.x - model.lattice.spacing))
      sum += x[i] - glm::dvec3(model.rest[i]), count += 1.0;
  return sum / count;
}

}  // namespace trocar::test
