#include "sim/score/motion.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <string_view>

#include "geometry/elementary.hpp"
#include "geometry/translate.hpp"
#include "sim/score/smoothness.hpp"

namespace trocar {
namespace {

double angle_deg(const glm::dvec3& a, const glm::dvec3& b) {
  return glm::degrees(elementary::atan2(glm::length(glm::cross(a, b)), glm::dot(a, b)));
}

const glm::dvec3& tip_at(const Track& track, double time) {
  const double k = std::round((time - track.start) * kTrackRate);
  return track.tip[static_cast<std::size_t>(std::clamp(k, 0.0, static_cast<double>(track.size() - 1)))];
}

// Returns the sum of `step(k)` between the samples k - 1 and k.
template <class Step>
double summed(std::size_t samples, Step step) {
  if (samples < 2) return kUndefined;
  double sum = 0.0;
  for (std::size_t k = 1; k < samples; ++k) sum += step(k);
  return sum;
}

}  // namespace

double path_length(std::span<const glm::dvec3> tip) {
  return summed(tip.size(), [&](std::size_t k) { return glm::distance(tip[k], tip[k - 1]); });
}

double path_inefficiency(const Track& track, std::span<const double> stops) {
  if (track.size() < 2) return kUndefined;
  glm::dvec3 from = track.tip.front();
  double straight = 0.0;
  for (const double stop : stops) {
    straight += glm::distance(from, tip_at(track, stop));
    from = tip_at(track, stop);
  }
  straight += glm::distance(from, track.tip.back());
  return straight < kShortestWay ? kUndefined : path_length(track.tip) / straight;
}

double depth_travelled(const Track& track) {
  const auto depth = [&](std::size_t k) { return glm::distance(track.tip[k], track.pivot[k]); };
  return summed(track.size(), [&](std::size_t k) { return std::abs(depth(k) - depth(k - 1)); });
}

double shaft_turned(const Track& track) {
  const auto shaft = [&](std::size_t k) { return track.tip[k] - track.pivot[k]; };
  return summed(track.size(), [&](std::size_t k) { return angle_deg(shaft(k), shaft(k - 1)); });
}

double roll_turned(const Track& track) {
  return summed(track.size(), [&](std::size_t k) { return std::abs(track.roll_deg[k] - track.roll_deg[k - 1]); });
}

double volume_used(const Track& track) {
  if (track.size() < 2) return kUndefined;
  glm::dvec3 lowest = track.tip.front(), highest = lowest;
  for (const glm::dvec3& tip : track.tip) {
    lowest = glm::min(lowest, tip);
    highest = glm::max(highest, tip);
  }
  const glm::dvec3 size = highest - lowest;
  return size.x * size.y * size.z;
}

double economy_of_volume(const Track& track) {
  const double length = path_length(track.tip);
  return length >= kShortestWay ? elementary::cbrt(volume_used(track)) / length : kUndefined;
}

double mean_speed(const Track& track) {
  return track.size() < 2 ? kUndefined : path_length(track.tip) / track.duration();
}

double peak_speed(const Track& track) {
  return track.size() < 2 ? kUndefined : *std::max_element(track.speed.begin(), track.speed.end());
}

double idle_share(const Track& track) {
  if (track.size() < 2) return kUndefined;
  const auto still = std::count_if(track.speed.begin(), track.speed.end(), [](double v) { return v < kStillSpeed; });
  return static_cast<double>(still) / static_cast<double>(track.size());
}

namespace {

struct Span {
  std::size_t first, last;  // samples first .. last - 1
};

// Returns the first stop from `from` on: its first sample, or the end of the track.
std::size_t next_stop(std::span<const double> speed, std::size_t from) {
  constexpr auto kLong = static_cast<std::size_t>(kShortestStop * kTrackRate);  // samples
  std::size_t still = 0;
  for (std::size_t k = from; k < speed.size(); ++k) {
    still = speed[k] <= kStillSpeed ? still + 1 : 0;
    if (still == kLong) return k + 1 - kLong;
  }
  return speed.size() - still;
}

// Returns the spans between two stops in which the speed rises above kMovingSpeed and the path is long enough.
std::vector<Span> moving_spans(std::span<const double> speed) {
  std::vector<Span> list;
  for (std::size_t from = 0; from < speed.size();) {
    std::size_t fast = from;
    while (fast < speed.size() && speed[fast] <= kMovingSpeed) ++fast;
    if (fast == speed.size()) break;
    std::size_t first = fast;
    while (first > from && speed[first - 1] > kStillSpeed) --first;
    const std::size_t last = next_stop(speed, fast);
    const double path = std::accumulate(speed.begin() + static_cast<std::ptrdiff_t>(first),
                                        speed.begin() + static_cast<std::ptrdiff_t>(last), 0.0) /
                        kTrackRate;
    if (path >= kShortestMove) list.push_back({first, last});
    from = last;
  }
  return list;
}

}  // namespace

std::vector<Track> movements_of(const Track& track) {
  std::vector<Track> list;
  for (const auto& [first, last] : moving_spans(track.fine_speed))
    list.push_back(part_of(track, first - std::min(first, kTrackMargin), std::min(last + kTrackMargin, track.size())));
  return list;
}

std::size_t movements(const Track& track) { return moving_spans(track.speed).size(); }

double speed_correlation(const Track& left, const Track& right) {
  const double start = std::max(left.start, right.start);
  const auto skip = [&](const Track& track) {
    return static_cast<std::size_t>(std::round((start - track.start) * kTrackRate));
  };
  const std::size_t a = skip(left), b = skip(right);
  if (left.size() <= a || right.size() <= b) return kUndefined;
  const std::size_t count = std::min(left.size() - a, right.size() - b);
  if (static_cast<double>(count) < kTrackRate) return kUndefined;
  double mean_a = 0.0, mean_b = 0.0;
  for (std::size_t k = 0; k < count; ++k) {
    mean_a += left.speed[a + k] / static_cast<double>(count);
    mean_b += right.speed[b + k] / static_cast<double>(count);
  }
  double aa = 0.0, bb = 0.0, ab = 0.0;
  for (std::size_t k = 0; k < count; ++k) {
    const double da = left.speed[a + k] - mean_a, db = right.speed[b + k] - mean_b;
    aa += da * da;
    bb += db * db;
    ab += da * db;
  }
  // The correlation of a speed that is constant up to rounding is undefined.
  const double smallest = 1e-12 * static_cast<double>(count);
  return aa > smallest && bb > smallest ? std::clamp(ab / std::sqrt(aa * bb), -1.0, 1.0) : kUndefined;
}

namespace {

constexpr std::size_t kFewestSamples = 20;  // 1  of a movement whose smoothness counts
constexpr const char* kResearchNote = "for research: on recordings of surgeons it did not rank experts before novices";
constexpr const char* kJerkNote =
    "up to 10 Hz, and depends on this cut-off; does not discriminate skill (Aghazadeh et al. 2023): it grows with "
    "speed";
constexpr const char* kWholeNote = "of the whole attempt: falls with its length; compare attempts of equal length";

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

double arc_of(const Track& track) { return spectral_arc_length(track.fine_speed, kTrackRate); }
double jerk_of(const Track& track) { return log_dimensionless_jerk(track.fine, kTrackRate); }

// The motion metrics of a track, whatever its noise. `arc`: false leaves the spectral arc length of the attempt out,
// which takes longer than all others.
std::vector<Metric> noisy_metrics(const Track& track, std::span<const double> stops, bool arc) {
  std::vector<Metric> list;
  const auto add = [&](const char* id, const char* label, const char* unit, double value, const char* note = "") {
    list.push_back({id, label, unit, value, {}, {}, note});
  };
  const Track active = active_part(track, kActiveSpeed);
  const std::vector<Track> moves = movements_of(track);
  add("path_length", "Path length", "mm", path_length(track.tip) * 1e3);
  add("movements", "Movements", "", track.size() < 2 ? kUndefined : static_cast<double>(movements(track)));
  add("path_inefficiency", "Path-length ratio, smoothed path", "", path_inefficiency(track, stops));
  add("depth", "Depth, in and out", "mm", depth_travelled(track) * 1e3);
  add("angular_path", "Angular path of the shaft", "deg", shaft_turned(track));
  add("roll_path", "Angular path about the shaft", "deg", roll_turned(track));
  add("volume", "Volume used", "cm^3", volume_used(track) * 1e6);
  add("economy", "Economy of volume", "", economy_of_volume(track));
  add("mean_speed", "Mean speed", "mm/s", mean_speed(track) * 1e3);
  add("peak_speed", "Peak speed", "mm/s", peak_speed(track) * 1e3);
  add("idle", "Idle time", "%", idle_share(track) * 100.0);
  add("ldlj", "Log dimensionless jerk", "", jerk_of(active), kWholeNote);
  add("log_jerk", "Log jerk per second", "", log_jerk_per_second(active.fine, kTrackRate), "up to 10 Hz");
  add("mean_squared_jerk", "Mean squared jerk", "m^2/s^6", mean_squared_jerk(active.fine, kTrackRate), kJerkNote);
  add("sparc_movement", "Spectral arc length of a movement", "", median_over(moves, arc_of), kResearchNote);
  add("ldlj_movement", "Log dimensionless jerk of a movement", "", median_over(moves, jerk_of), kResearchNote);
  if (arc) add("sparc", "Spectral arc length", "", arc_of(active), kWholeNote);
  return list;
}

// Below this rate of the samples there is no motion up to kTrackCutOff in them; times of samples are rounded.
constexpr double kLeastRate = 1.98 * kTrackCutOff;  // Hz

bool is_one_of(const std::string& id, std::initializer_list<std::string_view> ids) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// Returns whether noise, or a low rate, changes the value of a metric too much. A logarithm is compared as the number
// itself. Half the change is allowed where noise also moves the ends or extremes of the path, and where one movement
// more of twelve is too much. The largest of many speeds grows by three standard deviations of their noise.
bool is_unsure(const Metric& metric, std::span<const double> trials, const MeasuredTrack& measured) {
  const bool log = is_one_of(metric.id, {"ldlj", "ldlj_movement", "log_jerk"});
  const bool smoothness = log || is_one_of(metric.id, {"sparc", "sparc_movement", "mean_squared_jerk"});
  if (smoothness && (measured.fine_noise > kMostSpeedNoise || measured.rate < kLeastRate)) return true;
  if (is_one_of(metric.id, {"movements", "idle"}) && measured.speed_noise > kMostSpeedNoise) return true;
  if (metric.id == "peak_speed" && std::sqrt(3.0) * measured.speed_noise * 1e3 > 0.1 * metric.value) return true;
  const double size = log ? std::min(std::abs(metric.value), 1.0) : std::abs(metric.value);
  return !steady(metric.value, trials,
                 is_one_of(metric.id, {"movements", "path_inefficiency", "volume"}) ? 0.5 * size : size);
}

}  // namespace

bool steady(double value, std::span<const double> trials, double size) {
  double change = 0.0;
  for (const double trial : trials) change += std::abs(trial - value) / static_cast<double>(trials.size());
  return change <= kMostChange * size;
}

std::vector<Metric> motion_metrics(const MeasuredTrack& measured, std::span<const double> stops) {
  std::vector<Metric> list = noisy_metrics(measured.track, stops, true);
  std::vector<std::vector<double>> trials(list.size());
  for (const Track& noisier : measured.noisier) {
    const std::vector<Metric> trial = noisy_metrics(noisier, stops, &noisier == &measured.noisier.front());
    for (std::size_t k = 0; k < trial.size(); ++k) trials[k].push_back(trial[k].value);
  }
  for (std::size_t k = 0; k < list.size(); ++k)
    if (is_unsure(list[k], trials[k], measured)) list[k].value = kUndefined;
  list.push_back({"noise",
                  msgid("Noise of the sensor"),
                  "mm",
                  measured.track.size() < 2 ? kUndefined : measured.noise * 1e3,
                  {},
                  {},
                  ""});
  return list;
}

double steady_correlation(const MeasuredTrack& left, const MeasuredTrack& right) {
  const double value = speed_correlation(left.track, right.track);
  std::vector<double> trials;
  for (std::size_t k = 0; k < std::max(left.noisier.size(), right.noisier.size()); ++k)
    trials.push_back(speed_correlation(left.noisier.empty() ? left.track : left.noisier[k],
                                       right.noisier.empty() ? right.track : right.noisier[k]));
  return steady(value, trials, std::abs(value)) ? value : kUndefined;
}

std::vector<double> frame_shares(std::span<const double> times) {
  std::vector<double> shares(times.size(), 0.0);
  for (std::size_t k = 1; k < times.size(); ++k) shares[k] = std::max(times[k] - times[k - 1], 0.0);
  return shares;
}

double time_of(std::span<const double> shares, std::span<const char> flags) {
  double sum = 0.0;
  for (std::size_t k = 0; k < shares.size(); ++k)
    if (flags[k]) sum += shares[k];
  return sum;
}

std::size_t beginnings(std::span<const double> times, std::span<const char> flags, double away) {
  std::size_t count = 0;
  double last = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < flags.size(); ++k) {
    if (!flags[k]) continue;
    if (times[k] - last > away && (k == 0 || !flags[k - 1])) ++count;
    last = times[k];
  }
  return count;
}

Metric duration_metric(double duration, std::optional<double> good, std::optional<double> poor) {
  return {"duration", msgid("Scored time"), "s", duration, good, poor, ""};
}

Metric out_of_view_metric(std::span<const double> shares, std::span<const char> out_of_view, double duration) {
  return {"out_of_view_time", msgid("Tip out of view"), "s", time_of(shares, out_of_view), 0.0, 0.1 * duration, ""};
}

Metric peak_force_metric(double peak, double limit) {
  return {"peak_force", msgid("Peak force"), "N", peak, limit, 2.0 * limit, ""};
}

}  // namespace trocar
