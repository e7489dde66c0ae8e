// Reads an instrument's motion from a recording, then samples it evenly and filters it. The even rate is 100 Hz. Two
// low-passes separate the voluntary motion, up to 3 Hz, which every metric but smoothness measures, from the motion up
// to 10 Hz, the upper limit of the spectral arc length, where tremor (8 to 12 Hz) is attenuated but kept. Reasons:
// docs/metrics.md.
// Units: metres, seconds, degrees.   Tested in tests/sim/score/motion_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
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

// Estimates the noise of a sensor from its samples.
// Seven successive samples determine a sixth divided difference, which is zero for a polynomial of fifth order, at any
// spacing of the samples. Over so short a time a voluntary motion is nearly one, and noise is not. The median of the
// absolute differences, each in units of its own spread, gives the standard deviation of white noise, whatever the
// tool does in less than half of the time.
// Sources: divided differences as a filter for motion: ours; median of absolute deviations: Hampel, "The influence
// curve and its role in robust estimation", Journal of the American Statistical Association 69, 1974. Units: seconds,
// metres.   Tested with known noise in tests/sim/score/motion_test.cpp

// Returns the standard deviation of the noise along one axis, m. Below seven samples 0.
double noise_of(std::span<const double> time, std::span<const glm::dvec3> points);

// Returns 1 / the median time between samples, Hz. Below two samples 0.
double median_rate(std::span<const double> time);

constexpr double kTrackRate = 100.0;   // Hz
constexpr double kHandCutOff = 3.0;    // Hz  of the voluntary motion: reasons in docs/metrics.md
constexpr double kTrackCutOff = 10.0;  // Hz  of the motion whose smoothness is measured
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
  std::vector<glm::dvec3> tip, pivot;  // [sample] m    up to kHandCutOff
  std::vector<double> roll_deg;        // [sample]      up to kHandCutOff
  std::vector<double> speed;           // [sample] m/s  of the tip, by central differences
  std::vector<glm::dvec3> fine;        // [sample] m    the tip up to kTrackCutOff
  std::vector<double> fine_speed;      // [sample] m/s

  std::size_t size() const { return tip.size(); }
  double duration() const { return tip.size() < 2 ? 0.0 : static_cast<double>(tip.size() - 1) / kTrackRate; }  // s
};
Track track_of(const TrackSamples& samples);

// Adds white noise of standard deviation `noise`, m, to each coordinate of the tips, with the same bits on every
// machine.
TrackSamples with_noise(const TrackSamples& samples, double noise, std::uint32_t seed);

// A track with the noise of its samples and what this noise does to it: the same samples with as much noise added once
// more, several times. A value that this changes depends on the sensor (steady(), sim/score/motion.hpp).
// Source of the idea: Cook, Stefanski, "Simulation-extrapolation estimation in parametric measurement error models",
// Journal of the American Statistical Association 89, 1994. We differ: we do not extrapolate.
struct MeasuredTrack {
  Track track;
  double noise = 0.0;  // m   of the samples of the tip, along one axis
  double rate = 0.0;   // Hz  of the samples: median_rate()
  // m/s  root mean square of the difference that it makes to the velocity of the tip, up to kHandCutOff, kTrackCutOff
  double speed_noise = 0.0, fine_noise = 0.0;
  std::vector<Track> noisier = {};  // [trial] empty when the noise is below kLeastNoise
};
constexpr double kLeastNoise = 1e-6;  // m  no metric depends on less
constexpr int kNoiseTrials = 4;       // 1  their mean is within half of the expected change
MeasuredTrack measured_track(const TrackSamples& samples);

// Returns samples first .. last - 1 of a track.
Track part_of(const Track& track, std::size_t first, std::size_t last);
// Returns the part from the first to the last sample in which the tip is faster than `slowest`, m/s, plus half a period
// of the cut-off at either end, over which the low-pass spreads a start. The part is empty when the tip is never
// faster.
Track active_part(const Track& track, double slowest);

}  // namespace trocar
