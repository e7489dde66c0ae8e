#include "sim/score/smoothness.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "geometry/elementary.hpp"
#include "geometry/units.hpp"
#include "sim/score/motion.hpp"

namespace trocar {
namespace {

glm::dvec2 product(const glm::dvec2& a, const glm::dvec2& b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }

// Applies the bit-reversal permutation.
void reverse_digits(std::span<glm::dvec2> values) {
  for (std::size_t i = 1, j = 0; i < values.size(); ++i) {
    std::size_t bit = values.size() / 2;
    for (; (j & bit) != 0; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(values[i], values[j]);
  }
}

}  // namespace

void fourier_transform(std::span<glm::dvec2> values) {
  reverse_digits(values);
  std::vector<glm::dvec2> roots(values.size() / 2);  // of unity
  for (std::size_t k = 0; k < roots.size(); ++k) {
    const double angle = -kFullTurn * static_cast<double>(k) / static_cast<double>(values.size());
    roots[k] = {elementary::cos(angle), elementary::sin(angle)};
  }
  for (std::size_t half = 1; half < values.size(); half *= 2) {
    const std::size_t stride = roots.size() / half;
    for (std::size_t begin = 0; begin < values.size(); begin += 2 * half)
      for (std::size_t k = begin; k < begin + half; ++k) {
        const glm::dvec2 turned = product(roots[(k - begin) * stride], values[k + half]);
        values[k + half] = values[k] - turned;
        values[k] += turned;
      }
  }
}

namespace {

double duration(std::size_t samples, double rate) { return static_cast<double>(samples - 1) / rate; }

double peak_speed_of(std::span<const glm::dvec3> tip, double rate) {
  double peak = 0.0;
  for (std::size_t k = 1; k + 1 < tip.size(); ++k)
    peak = std::max(peak, glm::distance(tip[k + 1], tip[k - 1]) * rate / 2.0);
  return peak;
}

// Returns the magnitudes from 0 Hz to the arc's highest frequency, normalised to a maximum of 1; empty when the speed
// is zero.
std::vector<double> spectrum_of(std::span<const double> speed, std::size_t length, std::size_t count) {
  std::vector<glm::dvec2> spectrum(length, glm::dvec2(0.0));
  for (std::size_t k = 0; k < speed.size(); ++k) spectrum[k].x = speed[k];
  fourier_transform(spectrum);
  std::vector<double> magnitude(std::min(count, length / 2 + 1));
  for (std::size_t k = 0; k < magnitude.size(); ++k) magnitude[k] = glm::length(spectrum[k]);
  const double largest = *std::max_element(magnitude.begin(), magnitude.end());
  if (!(largest > 0.0)) return {};
  for (double& value : magnitude) value /= largest;
  return magnitude;
}

}  // namespace

double integrated_squared_jerk(std::span<const glm::dvec3> tip, double rate) {
  if (tip.size() < 5) return kUndefined;
  double sum = 0.0;
  const std::size_t last = tip.size() - 4;
  for (std::size_t k = 0; k <= last; ++k) {
    const glm::dvec3 jerk = (tip[k + 3] - tip[k] - 3.0 * (tip[k + 2] - tip[k + 1])) * (rate * rate * rate);
    // Each value represents the middle interval of its four samples; the first and the last also the end intervals.
    sum += glm::dot(jerk, jerk) / rate * (1.0 + (k == 0) + (k == last));
  }
  return sum;
}

double mean_squared_jerk(std::span<const glm::dvec3> tip, double rate) {
  return tip.size() < 5 ? kUndefined : integrated_squared_jerk(tip, rate) / duration(tip.size(), rate);
}

double log_dimensionless_jerk(std::span<const glm::dvec3> tip, double rate) {
  if (tip.size() < 5) return kUndefined;
  const double peak = peak_speed_of(tip, rate), time = duration(tip.size(), rate);
  if (!(peak > 0.0)) return kUndefined;
  const double jerk = time * time * time / (peak * peak) * integrated_squared_jerk(tip, rate);
  return jerk > 0.0 ? -elementary::log(jerk) : kUndefined;
}

double log_jerk_per_second(std::span<const glm::dvec3> tip, double rate) {
  if (tip.size() < 5) return kUndefined;
  double squares = 0.0;
  for (std::size_t k = 1; k < tip.size(); ++k) {
    const glm::dvec3 velocity = (tip[k] - tip[k - 1]) * rate;
    squares += glm::dot(velocity, velocity);
  }
  const double jerk = mean_squared_jerk(tip, rate), speed = squares / static_cast<double>(tip.size() - 1);
  return jerk > 0.0 && speed > 0.0 ? -elementary::log(jerk / speed) : kUndefined;
}

double spectral_arc_length(std::span<const double> speed, double rate, const SpectralArc& arc) {
  if (speed.size() < 2) return kUndefined;
  const std::size_t length = std::bit_ceil(speed.size()) << arc.padding;
  const double step = rate / static_cast<double>(length);  // Hz
  const std::vector<double> spectrum =
      spectrum_of(speed, length, static_cast<std::size_t>(std::floor(arc.highest / step)) + 1);
  const auto counts = [&](double value) { return value >= arc.smallest; };
  const auto first = std::find_if(spectrum.begin(), spectrum.end(), counts);
  const auto last = std::find_if(spectrum.rbegin(), spectrum.rend(), counts).base();
  if (last - first < 2) return kUndefined;
  const double along = 1.0 / static_cast<double>(last - first - 1);
  double sum = 0.0;
  for (auto at = first + 1; at != last; ++at) sum += elementary::hypot(along, *at - *(at - 1));
  return -sum;
}

}  // namespace trocar
