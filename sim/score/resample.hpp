// Resamples irregular samples evenly and removes noise: samples denser than the even rate are averaged, a natural cubic
// spline interpolates the averages, and a second-order Butterworth low-pass runs forwards and backwards, without delay.
// Sources: natural spline: de Boor, "A Practical Guide to Splines", 1978; zero-lag Butterworth with the cut-off
// corrected for two passes: Winter, "Biomechanics and Motor Control of Human Movement", 4th ed. 2009, section 3.4.4.
// Units: seconds, hertz; values of any unit.   Tested in tests/sim/track_test.cpp
#pragma once

#include <span>
#include <vector>

namespace trocar {

struct Knots {
  std::vector<double> time, value;  // [knot] s ascending strictly; any unit
};

// Returns the mean time and mean value of the samples within each step of 1 / rate, counted from the first sample.
// `time` ascends strictly.
Knots thinned(std::span<const double> time, std::span<const double> value, double rate);

// Returns samples at first + k / rate up to the last knot. One knot gives one value; without a knot there is no value.
std::vector<double> spline_samples(const Knots& knots, double rate);

// Applies the low-pass. At the frequency `cut_off`, 0 < cut_off < rate / 2, half of the power passes. The ends are
// extended by point reflection.
std::vector<double> low_passed(std::span<const double> values, double rate, double cut_off);
// Returns the part of an amplitude at frequency f that low_passed() lets pass, 0 .. 1; f < rate / 2.
double passed_part(double f, double rate, double cut_off);

}  // namespace trocar
