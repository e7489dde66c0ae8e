// Estimates the noise of a sensor from its samples, and the jerk that this noise leaves in a smoothed track.
// Noise: seven successive samples determine a sixth divided difference, which is zero for a polynomial of fifth order,
// at any spacing of the samples. Over so short a time a voluntary motion is nearly one, and noise is not. The median of
// the absolute differences, each in units of its own spread, gives the standard deviation of white noise, whatever the
// tool does in less than half of the time.
// Jerk: the samples, averaged or interpolated to kTrackRate, have a flat spectrum up to half of the lower rate; the
// low-pass and the third difference weight it.
// Sources: divided differences as a filter for motion: ours; median of absolute deviations: Hampel, "The influence
// curve and its role in robust estimation", Journal of the American Statistical Association 69, 1974. Units: seconds,
// metres, hertz.   Tested with known noise in tests/sim/noise_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <span>

namespace trocar {

// Returns the standard deviation of the noise along one axis, m. Below seven samples 0.
double noise_of(std::span<const double> time, std::span<const glm::dvec3> points);

// Returns the mean squared jerk, m^2/s^6, that white noise of standard deviation `noise` along each axis, sampled at
// `rate`, leaves in a Track (sim/score/track.hpp).
double noise_jerk(double noise, double rate);

// Returns 1 / the median time between samples, Hz. Below two samples 0.
double median_rate(std::span<const double> time);

}  // namespace trocar
