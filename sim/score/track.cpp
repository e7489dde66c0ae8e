#include "sim/score/track.hpp"

#include <algorithm>
#include <cmath>

#include "sim/score/noise.hpp"
#include "sim/score/resample.hpp"

namespace trocar {
namespace {

bool finite(const glm::dvec3& p) { return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z); }

// Relative to the first value, so that a constant stays constant to the bit.
std::vector<double> smooth(std::span<const double> time, std::span<const double> value) {
  std::vector<double> moved(value.begin(), value.end());
  for (double& v : moved) v -= value.front();
  std::vector<double> even =
      low_passed(spline_samples(thinned(time, moved, kTrackRate), kTrackRate), kTrackRate, kTrackCutOff);
  for (double& v : even) v += value.front();
  return even;
}

std::vector<glm::dvec3> smooth(std::span<const double> time, std::span<const glm::dvec3> points) {
  std::vector<glm::dvec3> result;
  std::vector<double> value(points.size());
  for (int axis = 0; axis < 3; ++axis) {
    std::transform(points.begin(), points.end(), value.begin(), [axis](const glm::dvec3& p) { return p[axis]; });
    const std::vector<double> even = smooth(time, value);
    result.resize(even.size());
    for (std::size_t k = 0; k < even.size(); ++k) result[k][axis] = even[k];
  }
  return result;
}

std::vector<double> speed_of(std::span<const glm::dvec3> tip) {
  std::vector<double> speed(tip.size(), 0.0);
  for (std::size_t k = 0; k < tip.size() && tip.size() > 1; ++k) {
    const std::size_t before = k == 0 ? 0 : k - 1, after = std::min(k + 1, tip.size() - 1);
    speed[k] = glm::distance(tip[after], tip[before]) * kTrackRate / static_cast<double>(after - before);
  }
  return speed;
}

}  // namespace

void TrackSamples::add(double t, const glm::dvec3& tip_position, const glm::dvec3& pivot_position, double roll) {
  if (!std::isfinite(t) || !finite(tip_position) || !finite(pivot_position) || !std::isfinite(roll)) return;
  if (!time.empty() && t <= time.back()) return;
  if (!roll_deg.empty()) roll = roll_deg.back() + std::remainder(roll - roll_deg.back(), 360.0);
  time.push_back(t);
  tip.push_back(tip_position);
  pivot.push_back(pivot_position);
  roll_deg.push_back(roll);
}

Track track_of(const TrackSamples& samples) {
  Track track;
  if (samples.time.empty()) return track;
  track.start = thinned(samples.time, samples.roll_deg, kTrackRate).time.front();
  track.tip = smooth(samples.time, samples.tip);
  track.pivot = smooth(samples.time, samples.pivot);
  track.roll_deg = smooth(samples.time, samples.roll_deg);
  track.speed = speed_of(track.tip);
  track.noise = noise_of(samples.time, samples.tip);
  track.noise_jerk = noise_jerk(track.noise, median_rate(samples.time));
  return track;
}

Track part_of(const Track& track, std::size_t first, std::size_t last) {
  const auto cut = [&](const auto& list) {
    return std::decay_t<decltype(list)>(list.data() + first, list.data() + last);
  };
  return {track.start + static_cast<double>(first) / kTrackRate,
          cut(track.tip),
          cut(track.pivot),
          cut(track.roll_deg),
          cut(track.speed),
          track.noise,
          track.noise_jerk};
}

Track active_part(const Track& track, double slowest) {
  const auto moves = [&](double speed) { return speed > slowest; };
  const auto first = std::find_if(track.speed.begin(), track.speed.end(), moves);
  if (first == track.speed.end()) return {};
  const auto last = std::find_if(track.speed.rbegin(), track.speed.rend(), moves).base();
  const auto begin = static_cast<std::size_t>(first - track.speed.begin());
  const auto end = static_cast<std::size_t>(last - track.speed.begin());
  return part_of(track, begin - std::min(begin, kTrackMargin), std::min(end + kTrackMargin, track.size()));
}

}  // namespace trocar
