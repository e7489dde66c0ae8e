// From samples at any times to even ones without noise: what is denser than the even rate is averaged, a natural cubic
// spline goes through the rest, and a Butterworth low-pass of second order runs over it forwards and backwards, so that
// nothing is delayed.
// Sources: natural spline: de Boor, "A Practical Guide to Splines", 1978; zero-lag Butterworth with the cut-off
// corrected for two passes: Winter, "Biomechanics and Motor Control of Human Movement", 4th ed. 2009, section 3.4.4.
// Units: seconds, hertz; values of any unit.   Tested in tests/app/track_test.cpp
#pragma once

#include <span>
#include <vector>

namespace trocar {

struct Knots {
  std::vector<double> time, value;  // [knot] s ascending strictly; any unit
};

// Mean time and mean value of the samples within each step of 1 / rate, counted from the first sample. `time` ascends
// strictly.
Knots thinned(std::span<const double> time, std::span<const double> value, double rate);

// At first + k / rate, as long as that is not after the last knot. One knot gives one value, none gives none.
std::vector<double> spline_samples(const Knots& knots, double rate);

// Half of the power passes at `cut_off`, 0 < cut_off < rate / 2. Ends are continued by point reflection.
std::vector<double> low_passed(std::span<const double> values, double rate, double cut_off);

}  // namespace trocar
