#include "sim/score/track.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>

#include "geometry/elementary.hpp"
#include "geometry/units.hpp"

namespace trocar {
namespace {

// Second derivatives at the knots; zero at both ends. Thomas algorithm.
std::vector<double> spline_curvature(const Knots& knots) {
  const auto& t = knots.time;
  const auto& y = knots.value;
  const std::size_t n = t.size();
  std::vector<double> curvature(n, 0.0), upper(n, 0.0);
  for (std::size_t k = 1; k + 1 < n; ++k) {
    const double before = t[k] - t[k - 1], after = t[k + 1] - t[k];
    const double bend = 6.0 * ((y[k + 1] - y[k]) / after - (y[k] - y[k - 1]) / before);
    const double pivot = 2.0 * (before + after) - before * upper[k - 1];
    upper[k] = after / pivot;
    curvature[k] = (bend - before * curvature[k - 1]) / pivot;
  }
  for (std::size_t k = n - 1; k-- > 1;) curvature[k] -= upper[k] * curvature[k + 1];
  return curvature;
}

struct Biquad {
  double b0, b1, b2, a1, a2;
};

// Returns the bilinear transform of the second-order Butterworth low-pass.
Biquad butterworth(double rate, double cut_off) {
  const double w = elementary::tan(std::numbers::pi * cut_off / rate), k = std::numbers::sqrt2 * w;
  const double scale = 1.0 / (1.0 + k + w * w);
  return {w * w * scale, 2.0 * w * w * scale, w * w * scale, 2.0 * (w * w - 1.0) * scale, (1.0 - k + w * w) * scale};
}

// The filter runs twice. Each pass has a cut-off above `cut_off`, so that both passes together halve the power there.
double pass_cut_off(double rate, double cut_off) {
  return std::min(cut_off / elementary::pow(std::numbers::sqrt2 - 1.0, 0.25), 0.49 * rate);
}

// Initial state: the first value, constant.
void filter(const Biquad& f, std::vector<double>& x) {
  double x1 = x.front(), x2 = x1, y1 = x1, y2 = x1;
  for (double& value : x) {
    const double in = value;
    value = f.b0 * in + f.b1 * x1 + f.b2 * x2 - f.a1 * y1 - f.a2 * y2;
    x2 = x1;
    x1 = in;
    y2 = y1;
    y1 = value;
  }
}

}  // namespace

Knots thinned(std::span<const double> time, std::span<const double> value, double rate) {
  Knots knots;
  // Samples at exactly the even rate stay separate although their times are rounded.
  const auto step_of = [&](double t) { return std::floor((t - time[0]) * rate + 1e-6); };
  for (std::size_t begin = 0; begin < time.size();) {
    const double step = step_of(time[begin]);
    double sum_time = 0.0, sum_value = 0.0;
    std::size_t end = begin;
    for (; end < time.size() && step_of(time[end]) <= step; ++end) {
      sum_time += time[end] - time[begin];
      sum_value += value[end];
    }
    const double count = static_cast<double>(end - begin);
    knots.time.push_back(time[begin] + sum_time / count);
    knots.value.push_back(sum_value / count);
    begin = end;
  }
  return knots;
}

std::vector<double> spline_samples(const Knots& knots, double rate) {
  if (knots.time.size() < 2) return knots.value;
  const std::vector<double> curvature = spline_curvature(knots);
  const auto& t = knots.time;
  // Keeps the last sample although its time is rounded.
  const auto count = static_cast<std::size_t>(std::floor((t.back() - t.front()) * rate + 1e-6)) + 1;
  std::vector<double> samples(count);
  std::size_t piece = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const double at = std::min(t.front() + static_cast<double>(k) / rate, t.back());
    while (piece + 2 < t.size() && at > t[piece + 1]) ++piece;
    const double h = t[piece + 1] - t[piece], b = (at - t[piece]) / h, a = 1.0 - b;
    samples[k] = a * knots.value[piece] + b * knots.value[piece + 1] +
                 ((a * a * a - a) * curvature[piece] + (b * b * b - b) * curvature[piece + 1]) * h * h / 6.0;
  }
  return samples;
}

std::vector<double> low_passed(std::span<const double> values, double rate, double cut_off) {
  if (values.size() < 2) return {values.begin(), values.end()};
  const Biquad pass = butterworth(rate, pass_cut_off(rate, cut_off));
  const std::size_t margin = std::min(values.size() - 1, static_cast<std::size_t>(rate));
  std::vector<double> x;
  x.reserve(values.size() + 2 * margin);
  for (std::size_t k = margin; k > 0; --k) x.push_back(2.0 * values.front() - values[k]);
  x.insert(x.end(), values.begin(), values.end());
  for (std::size_t k = 1; k <= margin; ++k) x.push_back(2.0 * values.back() - values[values.size() - 1 - k]);
  filter(pass, x);
  std::reverse(x.begin(), x.end());
  filter(pass, x);
  std::reverse(x.begin(), x.end());
  return {x.begin() + static_cast<std::ptrdiff_t>(margin), x.end() - static_cast<std::ptrdiff_t>(margin)};
}

namespace {

constexpr std::size_t kWindow = 7;                      // samples
constexpr double kMedianOfNormal = 0.6744897501960817;  // of the absolute value of a standard normal variable

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The weights of the samples in their divided difference, scaled so that their squares sum up to 1.
std::array<double, kWindow> weights_of(std::span<const double> time) {
  std::array<double, kWindow> weight{};
  const double span = time[kWindow - 1] - time[0];
  double squares = 0.0;
  for (std::size_t i = 0; i < kWindow; ++i) {
    double product = 1.0;
    for (std::size_t j = 0; j < kWindow; ++j)
      if (j != i) product *= (time[i] - time[j]) / span;
    weight[i] = 1.0 / product;
    squares += weight[i] * weight[i];
  }
  for (double& w : weight) w /= std::sqrt(squares);
  return weight;
}

}  // namespace

double noise_of(std::span<const double> time, std::span<const glm::dvec3> points) {
  if (time.size() < kWindow) return 0.0;
  std::vector<double> size;
  size.reserve(3 * time.size());
  for (std::size_t first = 0; first + kWindow <= time.size(); ++first) {
    const std::array<double, kWindow> weight = weights_of(time.subspan(first, kWindow));
    glm::dvec3 difference(0.0);
    for (std::size_t i = 0; i < kWindow; ++i) difference += weight[i] * (points[first + i] - points[first]);
    for (int axis = 0; axis < 3; ++axis) size.push_back(std::abs(difference[axis]));
  }
  return median_of(size) / kMedianOfNormal;
}

double median_rate(std::span<const double> time) {
  if (time.size() < 2) return 0.0;
  std::vector<double> steps;
  for (std::size_t k = 1; k < time.size(); ++k) steps.push_back(time[k] - time[k - 1]);
  return 1.0 / median_of(steps);
}

namespace {

bool finite(const glm::dvec3& p) { return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z); }

// Relative to the first value, so that a constant stays constant to the bit.
std::vector<double> smooth(std::span<const double> time, std::span<const double> value, double cut_off) {
  std::vector<double> moved(value.begin(), value.end());
  for (double& v : moved) v -= value.front();
  std::vector<double> even =
      low_passed(spline_samples(thinned(time, moved, kTrackRate), kTrackRate), kTrackRate, cut_off);
  for (double& v : even) v += value.front();
  return even;
}

std::vector<glm::dvec3> smooth(std::span<const double> time, std::span<const glm::dvec3> points, double cut_off) {
  std::vector<glm::dvec3> result;
  std::vector<double> value(points.size());
  for (int axis = 0; axis < 3; ++axis) {
    std::transform(points.begin(), points.end(), value.begin(), [axis](const glm::dvec3& p) { return p[axis]; });
    const std::vector<double> even = smooth(time, value, cut_off);
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
  track.tip = smooth(samples.time, samples.tip, kHandCutOff);
  track.pivot = smooth(samples.time, samples.pivot, kHandCutOff);
  track.roll_deg = smooth(samples.time, samples.roll_deg, kHandCutOff);
  track.speed = speed_of(track.tip);
  track.fine = smooth(samples.time, samples.tip, kTrackCutOff);
  track.fine_speed = speed_of(track.fine);
  return track;
}

namespace {

// Two independent values of a standard normal distribution, by Box, Muller 1958.
glm::dvec2 normal_pair(std::mt19937& random) {
  constexpr double kValues = 4294967296.0;
  const double radius = std::sqrt(-2.0 * elementary::log((random() + 0.5) / kValues));
  const double angle = kFullTurn * random() / kValues;
  return radius * glm::dvec2(elementary::cos(angle), elementary::sin(angle));
}

// The mean squared difference of the velocities of two tracks, m^2/s^2.
double velocity_difference(std::span<const glm::dvec3> a, std::span<const glm::dvec3> b) {
  double sum = 0.0;
  for (std::size_t k = 1; k < a.size(); ++k) {
    const glm::dvec3 difference = ((a[k] - a[k - 1]) - (b[k] - b[k - 1])) * kTrackRate;
    sum += glm::dot(difference, difference);
  }
  return a.size() < 2 ? 0.0 : sum / static_cast<double>(a.size() - 1);
}

}  // namespace

TrackSamples with_noise(const TrackSamples& samples, double noise, std::uint32_t seed) {
  TrackSamples noisy = samples;
  std::mt19937 random(seed);
  for (glm::dvec3& tip : noisy.tip) {
    const glm::dvec2 first = normal_pair(random), second = normal_pair(random);
    tip += noise * glm::dvec3(first, second.x);
  }
  return noisy;
}

MeasuredTrack measured_track(const TrackSamples& samples) {
  MeasuredTrack measured{track_of(samples), noise_of(samples.time, samples.tip), median_rate(samples.time)};
  if (measured.noise < kLeastNoise) return measured;
  double squares = 0.0, fine_squares = 0.0;
  for (int trial = 0; trial < kNoiseTrials; ++trial) {
    measured.noisier.push_back(track_of(with_noise(samples, measured.noise, static_cast<std::uint32_t>(trial) + 1u)));
    squares += velocity_difference(measured.noisier.back().tip, measured.track.tip) / kNoiseTrials;
    fine_squares += velocity_difference(measured.noisier.back().fine, measured.track.fine) / kNoiseTrials;
  }
  measured.speed_noise = std::sqrt(squares), measured.fine_noise = std::sqrt(fine_squares);
  return measured;
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
          cut(track.fine),
          cut(track.fine_speed)};
}

Track active_part(const Track& track, double slowest) {
  const auto moves = [&](double speed) { return speed > slowest; };
  const auto& speed = track.fine_speed;
  const auto first = std::find_if(speed.begin(), speed.end(), moves);
  if (first == speed.end()) return {};
  const auto last = std::find_if(speed.rbegin(), speed.rend(), moves).base();
  const auto begin = static_cast<std::size_t>(first - speed.begin());
  const auto end = static_cast<std::size_t>(last - speed.begin());
  return part_of(track, begin - std::min(begin, kTrackMargin), std::min(end + kTrackMargin, track.size()));
}

}  // namespace trocar
