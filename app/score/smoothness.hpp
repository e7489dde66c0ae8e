// How smooth a movement is. Pure functions of even samples; larger (nearer zero) is smoother for both arc length and
// log dimensionless jerk.
// Sources: dimensionless jerk: Hogan, Sternad, "Sensitivity of smoothness measures to movement duration, amplitude, and
// arrests", Journal of Motor Behavior 41, 2009; its logarithm and the spectral arc length: Balasubramanian,
// Melendez-Calderon, Roby-Brami, Burdet, "On the analysis of movement smoothness", Journal of NeuroEngineering and
// Rehabilitation 12:112, 2015. We differ: jerk is the third derivative of the place, not the second of the speed, so
// that turning on the spot is no corner; along a straight line both are the same.
// Units: metres, seconds, hertz.   Tested in tests/app/smoothness_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <span>

namespace trocar {

// Integral of the squared jerk over the time, m^2/s^5, by third differences. Not a number below five samples.
double integrated_squared_jerk(std::span<const glm::dvec3> tip, double rate);
double mean_squared_jerk(std::span<const glm::dvec3> tip, double rate);  // m^2/s^6

// -ln(duration^3 / peak speed^2 * integrated squared jerk). Of a minimum-jerk reach -ln 204.8 = -5.32. Not a number
// below five samples or without motion.
double log_dimensionless_jerk(std::span<const glm::dvec3> tip, double rate);

struct SpectralArc {
  double highest = 10.0;   // Hz   where the spectrum ends
  double smallest = 0.05;  // 1    of its largest value: below that it ends sooner
  int padding = 4;         // 1    zeros to 2^padding times the length
};
// Minus the length of the normalised speed spectrum's line. Not a number for no speed at all.
double spectral_arc_length(std::span<const double> speed, double rate, const SpectralArc& arc = {});

}  // namespace trocar
