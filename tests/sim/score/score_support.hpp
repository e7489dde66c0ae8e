// Makes motions with closed forms, for tests of scores. Units: metres, seconds, degrees.
#pragma once

#include <cmath>
#include <functional>
#include <glm/glm.hpp>
#include <numbers>
#include <vector>

#include "sim/score/track.hpp"

namespace trocar::test {

using Path = std::function<glm::dvec3(double)>;  // tip position at a time

inline constexpr glm::dvec3 kPivot{0.0, 0.0, 0.3};

// Samples the path at `rate` frames a second from 0 to `duration`, both included.
inline TrackSamples sampled(const Path& path, double duration, double rate) {
  TrackSamples samples;
  for (int k = 0; k <= std::lround(duration * rate); ++k) samples.add(k / rate, path(k / rate), kPivot, 0.0);
  return samples;
}

// Returns an even track by formula, without the filter.
inline Track exact_track(const Path& path, double duration) {
  Track track;
  const auto count = static_cast<std::size_t>(std::lround(duration * kTrackRate)) + 1;
  for (std::size_t k = 0; k < count; ++k) {
    const double t = static_cast<double>(k) / kTrackRate;
    track.tip.push_back(path(t));
    track.pivot.push_back(kPivot);
    track.roll_deg.push_back(0.0);
    track.speed.push_back(glm::distance(path(t + 1e-6), path(t - 1e-6)) / 2e-6);
    track.fine.push_back(track.tip.back());
    track.fine_speed.push_back(track.speed.back());
  }
  return track;
}

// Returns the movement of Flash, Hogan 1985 from rest to rest by `displacement` in `duration`; the tip is still before
// and after.
inline Path minimum_jerk(const glm::dvec3& displacement, double duration, double start = 0.0) {
  return [=](double t) {
    const double u = std::clamp((t - start) / duration, 0.0, 1.0);
    return displacement * (u * u * u * (10.0 + u * (6.0 * u - 15.0)));
  };
}

inline Path circle(double radius, double turns_per_second) {
  return [=](double t) {
    const double angle = 2.0 * std::numbers::pi * turns_per_second * t;
    return radius * glm::dvec3(std::cos(angle), std::sin(angle), 0.0);
  };
}

}  // namespace trocar::test
