// Reads an instrument's motion from a recording, then samples it evenly and filters it. The even rate is 100 Hz. The
// low-pass is 10 Hz, the upper limit of the spectral arc length; tremor (8 to 12 Hz) is attenuated but kept. Reasons:
// docs/metrics.md.
// Units: metres, seconds, degrees.   Tested in tests/sim/score/motion_test.cpp
#pragma once

#include <cstddef>
#include <glm/glm.hpp>
#include <span>
#include <vector>

namespace trocar {

// Resamples irregular samples evenly and removes noise: samples denser than the even rate are averaged, a natural cubic
// spline interpolates the averages, and a second-order Butterworth low-pass runs forwards and backwards, without delay.
// Sources: natural spline: de Boor, "A Practical Guide to Splines", 1978; zero-lag Butterworth with the cut-off
// corrected for two passes: Winter, "Biomechanics and Motor Control of Human Movement", 4th ed. 2009, section 3.4.4.
// Units: seconds, hertz; values of any unit.   Tested in tests/sim/score/motion_test.cpp
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

// Estimates the noise of a sensor from its samples, and the jerk that this noise leaves in a smoothed track.
// Noise: seven successive samples determine a sixth divided difference, which is zero for a polynomial of fifth order,
// at any spacing of the samples. Over so short a time a voluntary motion is nearly one, and noise is not. The median of
// the absolute differences, each in units of its own spread, gives the standard deviation of white noise, whatever the
// tool does in less than half of the time.
// Jerk: the samples, averaged or interpolated to kTrackRate, have a flat spectrum up to half of the lower rate; the
// low-pass and the third difference weight it.
// Sources: divided differences as a filter for motion: ours; median of absolute deviations: Hampel, "The influence
// curve and its role in robust estimation", Journal of the American Statistical Association 69, 1974. Units: seconds,
// metres, hertz.   Tested with known noise in tests/sim/score/motion_test.cpp

// Returns the standard deviation of the noise along one axis, m. Below seven samples 0.
double noise_of(std::span<const double> time, std::span<const glm::dvec3> points);

// Returns the mean squared jerk, m^2/s^6, that white noise of standard deviation `noise` along each axis, sampled at
// `rate`, leaves in a Track (sim/score/track.hpp).
double noise_jerk(double noise, double rate);

// Returns 1 / the median time between samples, Hz. Below two samples 0.
double median_rate(std::span<const double> time);

constexpr double kTrackRate = 100.0;   // Hz
constexpr double kTrackCutOff = 10.0;  // Hz
// Half a period of the cut-off, over which the low-pass spreads a start or a stop.
constexpr auto kTrackMargin = static_cast<std::size_t>(kTrackRate / (2.0 * kTrackCutOff));  // samples

// The recorded samples: frames with a finite pose and a time later than the frame before.
struct TrackSamples {
  std::vector<double> time;            // [sample] s
  std::vector<glm::dvec3> tip, pivot;  // [sample] m
  std::vector<double> roll_deg;        // [sample] unwrapped: no jump from 180 to -180

  // Ignores non-finite samples and samples out of order.
  void add(double t, const glm::dvec3& tip_position, const glm::dvec3& pivot_position, double roll);
};

// An evenly sampled, smooth track: sample k is at start + k / kTrackRate.
struct Track {
  double start = 0.0;                  // s
  std::vector<glm::dvec3> tip, pivot;  // [sample] m
  std::vector<double> roll_deg;        // [sample]
  std::vector<double> speed;           // [sample] m/s of the tip, by central differences
  double noise = 0.0;                  // m        of the samples of the tip, along one axis
  double noise_jerk = 0.0;             // m^2/s^6  mean squared jerk of the tip that this noise leaves

  std::size_t size() const { return tip.size(); }
  double duration() const { return tip.size() < 2 ? 0.0 : static_cast<double>(tip.size() - 1) / kTrackRate; }  // s
};
Track track_of(const TrackSamples& samples);

// Returns samples first .. last - 1 of a track.
Track part_of(const Track& track, std::size_t first, std::size_t last);
// Returns the part from the first to the last sample in which the tip is faster than `slowest`, m/s, plus half a period
// of the cut-off at either end, over which the low-pass spreads a start. The part is empty when the tip is never
// faster.
Track active_part(const Track& track, double slowest);

}  // namespace trocar
