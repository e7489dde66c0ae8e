// Reads an instrument's motion from a recording, then samples it evenly and filters it. The even rate is 100 Hz. The
// low-pass is 10 Hz, the upper limit of the spectral arc length; tremor (8 to 12 Hz) is attenuated but kept. Method:
// sim/score/resample.hpp; reasons: docs/metrics.md.
// Units: metres, seconds, degrees.   Tested in tests/sim/track_test.cpp
#pragma once

#include <cstddef>
#include <glm/glm.hpp>
#include <vector>

namespace trocar {

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
