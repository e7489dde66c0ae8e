#include "sim/score/resample.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "geometry/elementary.hpp"

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

// The power that one pass of the filter lets pass; both passes together let this part of the amplitude pass.
double passed_part(double f, double rate, double cut_off) {
  const double w = elementary::tan(std::numbers::pi * f / rate) /
                   elementary::tan(std::numbers::pi * pass_cut_off(rate, cut_off) / rate);
  return 1.0 / (1.0 + w * w * w * w);
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

}  // namespace trocar
