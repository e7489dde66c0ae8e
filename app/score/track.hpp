// An instrument's motion, taken from a recording: first as it was recorded, then at even times and without noise.
// Even rate 100 Hz, low-pass 10 Hz: the band in which the spectral arc length looks, wide enough for tremor (8 to
// 12 Hz begins to be lost). See app/score/resample.hpp for how, docs/metrics.md for why.
// Units: metres, seconds, degrees.   Tested in tests/app/track_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <vector>

namespace trocar {

class Recording;

constexpr double kTrackRate = 100.0;   // Hz
constexpr double kTrackCutOff = 10.0;  // Hz

// As recorded: frames whose pose is finite and whose time is later than that of the frame before.
struct TrackSamples {
  std::vector<double> time;            // [sample] s
  std::vector<glm::dvec3> tip, pivot;  // [sample] m
  std::vector<double> roll_deg;        // [sample] turns counted on: no jump from 180 to -180

  // Keeps what is finite and in order.
  void add(double t, const glm::dvec3& tip_place, const glm::dvec3& pivot_place, double roll);
};
TrackSamples track_samples(const Recording& recording, std::size_t tool, std::size_t frames);  // of the first frames

// Even and smooth: sample k at start + k / kTrackRate.
struct Track {
  double start = 0.0;                  // s
  std::vector<glm::dvec3> tip, pivot;  // [sample] m
  std::vector<double> roll_deg;        // [sample]
  std::vector<double> speed;           // [sample] m/s of the tip, by central differences

  std::size_t size() const { return tip.size(); }
  double duration() const { return tip.size() < 2 ? 0.0 : static_cast<double>(tip.size() - 1) / kTrackRate; }  // s
};
Track track_of(const TrackSamples& samples);

// Part of a track, samples first .. last - 1.
Track part_of(const Track& track, std::size_t first, std::size_t last);
// From the first to the last sample in which the tip is faster than `slowest`, m/s, and half a period of the cut-off
// more at either end, over which the low-pass spreads a start; empty when it never is.
Track active_part(const Track& track, double slowest);

}  // namespace trocar
