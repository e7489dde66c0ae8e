#include "sim/score/noise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "geometry/elementary.hpp"
#include "sim/score/resample.hpp"
#include "sim/score/track.hpp"

namespace trocar {
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

double noise_jerk(double noise, double rate) {
  if (!(noise > 0.0) || !(rate > 0.0)) return 0.0;
  constexpr int kSteps = 400;
  const double highest = std::min(rate, kTrackRate) / 2.0, step = highest / kSteps;
  double sum = 0.0;
  for (int k = 0; k < kSteps; ++k) {
    const double f = (k + 0.5) * step;
    const double difference = 2.0 * kTrackRate * elementary::sin(std::numbers::pi * f / kTrackRate);
    const double passed = passed_part(f, kTrackRate, kTrackCutOff),
                 jerk = difference * difference * difference * passed;
    sum += jerk * jerk * step;
  }
  return 3.0 * (2.0 * noise * noise / rate) * sum;
}

double median_rate(std::span<const double> time) {
  if (time.size() < 2) return 0.0;
  std::vector<double> steps;
  for (std::size_t k = 1; k < time.size(); ++k) steps.push_back(time[k] - time[k - 1]);
  return 1.0 / median_of(steps);
}

}  // namespace trocar
