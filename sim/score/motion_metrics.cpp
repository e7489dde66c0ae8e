#include "sim/score/motion_metrics.hpp"

#include <limits>

#include "sim/score/motion.hpp"
#include "sim/score/smoothness.hpp"

namespace trocar {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr const char* kJerkNote =
    "does not discriminate skill (Aghazadeh et al. 2023): it grows with speed; use log dimensionless jerk";
constexpr const char* kLdljNote = "discriminates skill (Aghazadeh et al. 2023); nearer zero is smoother";

}  // namespace

std::vector<Metric> motion_metrics(const Track& track, std::span<const double> stops) {
  std::vector<Metric> list;
  const auto add = [&](const char* id, const char* label, const char* unit, double value, const char* note = "") {
    list.push_back({id, label, unit, value, {}, {}, note});
  };
  const Track active = active_part(track, kActiveSpeed);
  add("path_length", "Path length", "mm", path_length(track.tip) * 1e3);
  add("path_inefficiency", "Path-length ratio, smoothed path", "", path_inefficiency(track, stops));
  add("depth", "Depth, in and out", "mm", depth_travelled(track) * 1e3);
  add("angular_path", "Angular path of the shaft", "deg", shaft_turned(track));
  add("roll_path", "Angular path about the shaft", "deg", roll_turned(track));
  add("volume", "Volume used", "cm^3", volume_used(track) * 1e6);
  add("economy", "Economy of volume", "", economy_of_volume(track));
  add("mean_speed", "Mean speed", "mm/s", mean_speed(track) * 1e3);
  add("peak_speed", "Peak speed", "mm/s", peak_speed(track) * 1e3);
  add("mean_squared_jerk", "Mean squared jerk", "m^2/s^6", mean_squared_jerk(active.tip, kTrackRate), kJerkNote);
  add("ldlj", "Log dimensionless jerk", "", log_dimensionless_jerk(active.tip, kTrackRate), kLdljNote);
  add("sparc", "Spectral arc length", "", spectral_arc_length(active.speed, kTrackRate), "nearer zero is smoother");
  add("movements", "Movements", "", track.size() < 2 ? kNone : static_cast<double>(movements(track)));
  add("idle", "Idle time", "%", idle_share(track) * 100.0);
  return list;
}

}  // namespace trocar
