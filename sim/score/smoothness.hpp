// Computes the smoothness of a movement, by pure functions of evenly spaced samples. For spectral arc length and log
// dimensionless jerk, larger (nearer zero) is smoother.
// Sources: dimensionless jerk: Hogan, Sternad, "Sensitivity of smoothness measures to movement duration, amplitude, and
// arrests", Journal of Motor Behavior 41, 2009; its logarithm and the spectral arc length: Balasubramanian,
// Melendez-Calderon, Roby-Brami, Burdet, "On the analysis of movement smoothness", Journal of NeuroEngineering and
// Rehabilitation 12:112, 2015. We differ: jerk is the third derivative of the position, not the second of the speed,
// which has a corner where the tip reverses; along a straight line without reversal both are the same.
// Units: metres, seconds, hertz.   Tested in tests/sim/score/motion_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <span>

namespace trocar {

// Computes the discrete Fourier transform for scores, with the same bits on every machine; a library's result depends
// on its version and on the processor. Source: Cooley, Tukey, "An algorithm for the machine calculation of complex
// Fourier series", Math. Comp. 19, 1965.   Tested against the definition in tests/sim/score/motion_test.cpp

// Transforms in place. x is the real part, y the imaginary part. The length must be a power of two.
void fourier_transform(std::span<glm::dvec2> values);

// Returns the integral of the squared jerk over time, m^2/s^5, by third differences. NaN below five samples.
double integrated_squared_jerk(std::span<const glm::dvec3> tip, double rate);
double mean_squared_jerk(std::span<const glm::dvec3> tip, double rate);  // m^2/s^6

// Returns -ln(duration^3 / peak speed^2 * integrated squared jerk); -ln 204.8 = -5.32 for a minimum-jerk movement. NaN
// below five samples or without motion.
double log_dimensionless_jerk(std::span<const glm::dvec3> tip, double rate);

// Returns -ln((1 s)^4 * mean squared jerk / mean squared speed): unlike the one above it does not depend on the length
// of an attempt whose motion stays the same. NaN below five samples or without motion.
double log_jerk_per_second(std::span<const glm::dvec3> tip, double rate);

struct SpectralArc {
  double highest = 10.0;   // Hz   upper limit of the frequency
  double smallest = 0.05;  // 1    of the maximum: the arc begins and ends at the outermost values above this
  int padding = 4;         // 1    zero padding to 2^padding times the length
};
// Returns the negative arc length of the normalised speed spectrum. NaN when the speed is zero.
double spectral_arc_length(std::span<const double> speed, double rate, const SpectralArc& arc = {});

}  // namespace trocar
