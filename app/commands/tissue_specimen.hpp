// Options of trocar tissue that describe a specimen, its material and its plates, and what they stand for.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "deform/reference/specimen.hpp"

namespace trocar {

struct SpecimenOptions {
  std::string shape = "cylinder", mesh, material;
  double diameter_mm = 50.0, height_mm = 30.0;
  std::vector<double> size_mm = {20.0, 20.0, 200.0};
  double spacing_mm = 0.0;  // 0: a sixth of the smallest side
  double turn_deg = 0.0;
  double modulus_kpa = 6.0, poisson = 0.46, stiffening = 0.0, late_stiffening = 0.0, density = 1060.0;
  bool springs = false;  // the law `springs`
  bool stick = false, slip = false, pull = false, gravity = false;
  double twist_deg = 0.0, ball_mm = 0.0;

  bool twists() const { return twist_deg > 0.0; }
};

// Adds the options of the specimen and the plates; those of the material only with `material`.
void add_specimen_options(CLI::App& command, SpecimenOptions& options, bool material);

// Throws InputError for options that contradict each other.
void refuse_contradictions(const SpecimenOptions& options);

// Returns law, moduli, density and node spacing.
TissueParams params_of(const SpecimenOptions& options);
// Returns mesh, position and grips; press, twist and gravity are 0.
CurveTest test_of(const SpecimenOptions& options, double spacing);

// Returns one line that describes specimen and test.
std::string title_of(const SpecimenOptions& options);

}  // namespace trocar
