// Compares jerk and spectral arc length with closed forms, the authors' published example, and direct integration.
#include "sim/score/smoothness.hpp"

#include <gtest/gtest.h>

#include "tests/sim/score_support.hpp"

namespace trocar {
namespace {

using test::exact_track;

std::vector<glm::dvec3> positions(const test::Path& path, double duration, double rate) {
  std::vector<glm::dvec3> tip;
  for (int k = 0; k <= std::lround(duration * rate); ++k) tip.push_back(path(k / rate));
  return tip;
}

// The integral of the squared jerk is 720 D^2 / T^5 and the peak speed 1.875 D / T, so the result is ln(720 / 1.875^2)
// = ln 204.8.
TEST(Smoothness, MinimumJerkMovementHasItsClosedForm) {
  for (const double distance : {0.01, 0.1, 0.25})
    for (const double duration : {0.4, 1.0, 3.0}) {
      const auto tip = positions(test::minimum_jerk({0.6 * distance, 0.8 * distance, 0.0}, duration), duration, 1000.0);
      const double jerk = 720.0 * distance * distance / std::pow(duration, 5);
      EXPECT_NEAR(integrated_squared_jerk(tip, 1000.0) / jerk, 1.0, 0.02);
      EXPECT_NEAR(mean_squared_jerk(tip, 1000.0) / (jerk / duration), 1.0, 0.02);
      EXPECT_NEAR(log_dimensionless_jerk(tip, 1000.0), -std::log(204.8), 0.02);
    }
}

// x = A sin(wt): jerk A w^3 cos; peak speed A w; over n whole periods the dimensionless jerk is (2 pi n)^4 / (2 n) ...
TEST(Smoothness, SineHasItsClosedForm) {
  const double w = 2.0 * std::numbers::pi, amplitude = 0.02, duration = 3.0;
  const auto tip = positions([&](double t) { return glm::dvec3(amplitude * std::sin(w * t), 0, 0); }, duration, 2000.0);
  EXPECT_NEAR(mean_squared_jerk(tip, 2000.0), amplitude * amplitude * std::pow(w, 6) / 2.0,
              0.01 * amplitude * amplitude * std::pow(w, 6));
  EXPECT_NEAR(log_dimensionless_jerk(tip, 2000.0), -std::log(std::pow(duration, 4) * std::pow(w, 4) / 2.0), 0.01);
}

// A circle's jerk has constant magnitude: r w^3. Its speed is constant, so jerk derived from the speed would be 0.
TEST(Smoothness, CircleHasItsClosedForm) {
  const double w = 2.0 * std::numbers::pi * 0.5;
  const auto tip = positions(test::circle(0.03, 0.5), 4.0, 500.0);
  EXPECT_NEAR(mean_squared_jerk(tip, 500.0) / (0.03 * 0.03 * std::pow(w, 6)), 1.0, 0.01);
}

TEST(Smoothness, DimensionlessJerkIsIndependentOfSizeAndSpeed) {
  const auto slow = positions(test::minimum_jerk({0.2, 0.0, 0.1}, 4.0), 4.0, 100.0);
  const auto fast = positions(test::minimum_jerk({0.02, 0.01, 0.0}, 1.0), 1.0, 400.0);
  EXPECT_NEAR(log_dimensionless_jerk(slow, 100.0), log_dimensionless_jerk(fast, 400.0), 1e-9);
  EXPECT_GT(mean_squared_jerk(fast, 400.0), 30.0 * mean_squared_jerk(slow, 100.0));
}

// Tests the example published with the authors' program: exp(-5 t^2), t = -1, -0.99 ... 0.99.
TEST(Smoothness, TheAuthorsExample) {
  std::vector<double> speed;
  std::vector<glm::dvec3> tip;
  double distance = 0.0;
  for (int k = 0; k < 200; ++k) {
    const double t = -1.0 + 0.01 * k;
    speed.push_back(std::exp(-5.0 * t * t));
    // This is the position with this speed.
    distance = std::sqrt(std::numbers::pi / 5.0) / 2.0 * std::erf(std::sqrt(5.0) * t);
    tip.emplace_back(distance, 0.0, 0.0);
  }
  EXPECT_NEAR(spectral_arc_length(speed, 100.0), -1.41403, 5e-6);
  // The authors use a duration of 2 s for 200 samples, we use 1.99 s, which differs by 3 ln(2 / 1.99) = 0.015.
  EXPECT_NEAR(log_dimensionless_jerk(tip, 100.0), -5.81636, 0.03);
}

// Computes the arc by its definition: every frequency's integral separately, without a fast transform.
double arc_by_definition(const std::vector<double>& speed, double rate) {
  std::size_t length = 1;
  while (length < speed.size()) length *= 2;
  length *= 16;
  std::vector<double> frequency, magnitude;
  for (std::size_t k = 0; static_cast<double>(k) * rate / static_cast<double>(length) <= 10.0; ++k) {
    double re = 0.0, im = 0.0;
    for (std::size_t n = 0; n < speed.size(); ++n) {
      const double angle = -2.0 * std::numbers::pi * static_cast<double>(k * n % length) / static_cast<double>(length);
      re += speed[n] * std::cos(angle);
      im += speed[n] * std::sin(angle);
    }
    frequency.push_back(static_cast<double>(k) * rate / static_cast<double>(length));
    magnitude.push_back(std::hypot(re, im));
  }
  std::size_t last = 0;
  for (std::size_t k = 0; k < magnitude.size(); ++k)
    if (magnitude[k] / magnitude[0] >= 0.05) last = k;
  double sum = 0.0;
  for (std::size_t k = 1; k <= last; ++k)
    sum += std::hypot((frequency[k] - frequency[k - 1]) / frequency[last],
                      (magnitude[k] - magnitude[k - 1]) / magnitude[0]);
  return -sum;
}

TEST(Smoothness, SpectralArcFollowsItsDefinition) {
  for (const int parts : {1, 2, 5}) {
    std::vector<double> speed;
    for (int k = 0; k < 37 * parts; ++k) {
      const double s = std::sin(std::numbers::pi * k / 37.0);
      speed.push_back(s * s * (1.0 + 0.3 * (k / 37 % 2)));
    }
    EXPECT_NEAR(spectral_arc_length(speed, 100.0), arc_by_definition(speed, 100.0), 1e-9) << parts;
  }
}

TEST(Smoothness, MoreSegmentsAreLessSmooth) {
  double arc = 0.0, jerk = 0.0;
  for (const int pieces : {1, 2, 4, 8}) {
    test::Path path = [&](double t) {
      glm::dvec3 tip(0.0);
      for (int k = 0; k < pieces; ++k) tip += test::minimum_jerk({0.1, 0.0, 0.0}, 1.0, k)(t);
      return tip;
    };
    const Track track = exact_track(path, pieces);
    const double next_arc = spectral_arc_length(track.speed, kTrackRate);
    const double next_jerk = log_dimensionless_jerk(track.tip, kTrackRate);
    EXPECT_LT(next_arc, arc);
    EXPECT_LT(next_jerk, jerk);
    arc = next_arc;
    jerk = next_jerk;
  }
}

TEST(Smoothness, UndefinedWithoutData) {
  const std::vector<glm::dvec3> still(100, glm::dvec3(0.1, 0.2, 0.3));
  for (const std::size_t count : {0u, 1u, 4u})
    EXPECT_TRUE(std::isnan(mean_squared_jerk(std::span(still).first(count), 100.0)));
  EXPECT_EQ(mean_squared_jerk(still, 100.0), 0.0);
  EXPECT_TRUE(std::isnan(log_dimensionless_jerk(still, 100.0)));
  EXPECT_TRUE(std::isnan(spectral_arc_length({}, 100.0)));
  EXPECT_TRUE(std::isnan(spectral_arc_length(std::vector<double>(50, 0.0), 100.0)));
}

}  // namespace
}  // namespace trocar
