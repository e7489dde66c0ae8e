#include "sim/score/motion_metrics.hpp"

#include <algorithm>
#include <cmath>

#include "sim/score/motion.hpp"
#include "sim/score/smoothness.hpp"
#include "sim/score/undefined.hpp"

namespace trocar {
namespace {

constexpr double kMostNoise = 0.25;  // 1  of the jerk; above it jerk says more about the sensor than about the hand
constexpr std::size_t kFewestSamples = 20;  // 1  of a movement whose smoothness counts
constexpr const char* kSmoothNote = "nearer zero is smoother; noise of the sensor up to 0.1 mm does not change it";
constexpr const char* kJerkNote =
    "up to 10 Hz, and depends on this cut-off; does not discriminate skill (Aghazadeh et al. 2023): it grows with "
    "speed";
constexpr const char* kLdljNote =
    "up to 10 Hz; nearer zero is smoother; empty where noise of the sensor makes up a quarter of the jerk or more";
constexpr const char* kWholeNote = "of the whole attempt: falls with its length; compare attempts of equal length";

// Returns the value, or NaN where the noise of the sensor makes up too much of the jerk.
double unless_noise(const Track& track, double value) {
  return track.noise_jerk <= kMostNoise * mean_squared_jerk(track.tip, kTrackRate) ? value : kUndefined;
}

// Returns the median of a value over the movements that have one; NaN unless more than half of them have.
template <class Value>
double median_over(const std::vector<Track>& list, Value value) {
  std::vector<double> known;
  std::size_t asked = 0;
  for (const Track& movement : list) {
    if (movement.size() < kFewestSamples) continue;
    ++asked;
    if (const double of_this = value(movement); !std::isnan(of_this)) known.push_back(of_this);
  }
  if (2 * known.size() <= asked) return kUndefined;
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>((known.size() - 1) / 2);
  std::nth_element(known.begin(), middle, known.end());
  return *middle;
}

double arc_of(const Track& track) { return spectral_arc_length(track.speed, kTrackRate); }
double jerk_of(const Track& track) { return unless_noise(track, log_dimensionless_jerk(track.tip, kTrackRate)); }

}  // namespace

std::vector<Metric> motion_metrics(const Track& track, std::span<const double> stops) {
  std::vector<Metric> list;
  const auto add = [&](const char* id, const char* label, const char* unit, double value, const char* note = "") {
    list.push_back({id, label, unit, value, {}, {}, note});
  };
  const Track active = active_part(track, kActiveSpeed);
  const std::vector<Track> moves = movements_of(track);
  add("path_length", "Path length", "mm", path_length(track.tip) * 1e3);
  add("path_inefficiency", "Path-length ratio, smoothed path", "", path_inefficiency(track, stops));
  add("depth", "Depth, in and out", "mm", depth_travelled(track) * 1e3);
  add("angular_path", "Angular path of the shaft", "deg", shaft_turned(track));
  add("roll_path", "Angular path about the shaft", "deg", roll_turned(track));
  add("volume", "Volume used", "cm^3", volume_used(track) * 1e6);
  add("economy", "Economy of volume", "", economy_of_volume(track));
  add("mean_speed", "Mean speed", "mm/s", mean_speed(track) * 1e3);
  add("peak_speed", "Peak speed", "mm/s", peak_speed(track) * 1e3);
  add("sparc_movement", "Spectral arc length of a movement", "", median_over(moves, arc_of), kSmoothNote);
  add("ldlj_movement", "Log dimensionless jerk of a movement", "", median_over(moves, jerk_of), kLdljNote);
  add("log_jerk", "Log jerk per second", "", unless_noise(active, log_jerk_per_second(active.tip, kTrackRate)),
      kLdljNote);
  add("sparc", "Spectral arc length", "", arc_of(active), kWholeNote);
  add("ldlj", "Log dimensionless jerk", "", jerk_of(active), kWholeNote);
  add("mean_squared_jerk", "Mean squared jerk", "m^2/s^6",
      unless_noise(active, mean_squared_jerk(active.tip, kTrackRate)), kJerkNote);
  add("noise", "Noise of the sensor", "mm", track.size() < 2 ? kUndefined : track.noise * 1e3);
  add("movements", "Movements", "", track.size() < 2 ? kUndefined : static_cast<double>(moves.size()));
  add("idle", "Idle time", "%", idle_share(track) * 100.0);
  return list;
}

}  // namespace trocar
