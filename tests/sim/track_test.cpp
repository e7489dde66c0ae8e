// Tests the even track made from recorded samples: it is exact where a spline is exact, the same at every rate,
// insensitive to noise, and robust against invalid frames.
#include "sim/score/track.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "sim/score/motion.hpp"
#include "sim/score/smoothness.hpp"
#include "tests/sim/score_support.hpp"

namespace trocar {
namespace {

using test::sampled;

TEST(Resample, SplineReproducesALineAtUnevenTimes) {
  const Knots knots{{0.0, 0.03, 0.1, 0.11, 0.4}, {1.0, 1.06, 1.2, 1.22, 1.8}};
  const auto values = spline_samples(knots, 100.0);
  ASSERT_EQ(values.size(), 41u);
  for (std::size_t k = 0; k < values.size(); ++k) EXPECT_NEAR(values[k], 1.0 + 0.02 * static_cast<double>(k), 1e-12);
}

// A natural spline has second derivative 0 at both ends, as a sine with a whole number of half periods has.
TEST(Resample, SplineErrorFallsWithTheFourthPowerOfTheStep) {
  const auto worst = [](int steps) {
    Knots knots;
    for (int k = 0; k <= steps; ++k) {
      knots.time.push_back(static_cast<double>(k) / steps);
      knots.value.push_back(std::sin(2.0 * std::numbers::pi * knots.time.back()));
    }
    const auto values = spline_samples(knots, 1000.0);
    double error = 0.0;
    for (std::size_t k = 0; k < values.size(); ++k)
      error = std::max(error, std::abs(values[k] - std::sin(2.0 * std::numbers::pi * static_cast<double>(k) / 1000.0)));
    return error;
  };
  EXPECT_NEAR(std::log2(worst(10) / worst(20)), 4.0, 0.3);
  EXPECT_NEAR(std::log2(worst(20) / worst(40)), 4.0, 0.3);
}

// The gain of the double pass is 1 / (1 + (tan(pi f / r) / tan(pi c / r))^4), c the corrected cut-off.
TEST(Resample, LowPassHasTheExpectedGainAndNoDelay) {
  const double rate = 100.0, cut_off = 10.0, pi = std::numbers::pi;
  const double corrected = std::tan(pi * cut_off / std::pow(std::numbers::sqrt2 - 1.0, 0.25) / rate);
  for (const double frequency : {0.5, 2.0, 5.0, 10.0, 20.0}) {
    std::vector<double> wave;
    for (int k = 0; k < 2000; ++k) wave.push_back(std::sin(2.0 * pi * frequency * k / rate));
    const auto passed = low_passed(wave, rate, cut_off);
    double sine = 0.0, cosine = 0.0;
    for (int k = 500; k < 1500; ++k) {
      sine += passed[static_cast<std::size_t>(k)] * std::sin(2.0 * pi * frequency * k / rate) / 500.0;
      cosine += passed[static_cast<std::size_t>(k)] * std::cos(2.0 * pi * frequency * k / rate) / 500.0;
    }
    EXPECT_NEAR(sine, 1.0 / (1.0 + std::pow(std::tan(pi * frequency / rate) / corrected, 4)), 1e-3) << frequency;
    EXPECT_NEAR(cosine, 0.0, 1e-3) << frequency;
  }
}

TEST(Resample, LowPassPreservesALineUpToItsEnds) {
  std::vector<double> line;
  for (int k = 0; k < 300; ++k) line.push_back(0.5 - 0.01 * k);
  const auto passed = low_passed(line, 100.0, 10.0);
  for (std::size_t k = 0; k < line.size(); ++k) EXPECT_NEAR(passed[k], line[k], 1e-6);
}

TEST(Track, SmoothnessIsTheSameAtEveryRate) {
  const auto path = test::minimum_jerk({0.08, 0.05, -0.02}, 1.5, 0.5);
  for (const double rate : {15.0, 30.0, 60.0, 100.0, 240.0, 1000.0}) {
    const Track active = active_part(track_of(sampled(path, 2.5, rate)), kActiveSpeed);
    // The slow ends of the movement are cut off: a little less than -ln 204.8.
    EXPECT_NEAR(log_dimensionless_jerk(active.tip, kTrackRate), -std::log(204.8), 0.2) << rate;
    EXPECT_NEAR(spectral_arc_length(active.speed, kTrackRate), -1.41, 0.03) << rate;
  }
}

TEST(Track, TenHertzAreEnoughForPaths) {
  const auto path = test::minimum_jerk({0.08, 0.05, -0.02}, 1.5, 0.5);
  const Track track = track_of(sampled(path, 2.5, 10.0));
  EXPECT_NEAR(path_length(track.tip) / glm::length(glm::dvec3(0.08, 0.05, -0.02)), 1.0, 0.02);
  EXPECT_NEAR(peak_speed(track) / (1.875 / 1.5 * glm::length(glm::dvec3(0.08, 0.05, -0.02))), 1.0, 0.03);
}

TEST(Track, UnevenTimesGiveTheSame) {
  std::mt19937 random(7);
  SCOPED_TRACE("seed 7");
  std::uniform_real_distribution<double> gap(0.004, 0.05);
  const auto path = test::circle(0.03, 0.5);
  TrackSamples samples;
  double t = 0.0;
  for (; t < 8.0; t += gap(random)) samples.add(t, path(t), test::kPivot, 0.0);
  const Track track = track_of(samples);
  EXPECT_NEAR(path_length(track.tip) / (2.0 * std::numbers::pi * 0.03 * 0.5 * track.duration()), 1.0, 0.003);
}

// Returns five seconds at `rate`, at a speed along x, with a noise of 0.1 mm in every coordinate.
TrackSamples noisy(double speed, double rate) {
  std::mt19937 random(11);
  std::normal_distribution<double> noise(0.0, 1e-4);
  TrackSamples samples;
  for (int k = 0; k <= static_cast<int>(5.0 * rate); ++k) {
    const double t = k / rate;
    samples.add(t, {speed * t + noise(random), noise(random), noise(random)}, test::kPivot, 0.0);
  }
  return samples;
}

// Does the same without the low-pass: only averaged to at most 100 Hz.
double path_without_filter(const TrackSamples& samples) {
  std::vector<glm::dvec3> even;
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<double> value;
    for (const glm::dvec3& tip : samples.tip) value.push_back(tip[axis]);
    const std::vector<double> line = spline_samples(thinned(samples.time, value, kTrackRate), kTrackRate);
    even.resize(line.size());
    for (std::size_t k = 0; k < line.size(); ++k) even[k][axis] = line[k];
  }
  return path_length(even);
}

// A mouse's steps of 0.2 mm must not add path length: a tool at rest stays at rest, a moving one has its true path
// length. Neither holds without the averaging or without the low-pass.
TEST(Track, NoiseAddsNoPathLength) {
  SCOPED_TRACE("seed 11");
  for (const double rate : {1000.0, 100.0}) {
    const TrackSamples still = noisy(0.0, rate), moving = noisy(0.02, rate);
    const double length = path_length(track_of(still).tip), raw = path_length(still.tip);
    std::printf(
        "%.0f Hz: a still tool goes %.1f mm of %.0f mm of noise, %.1f mm without the low-pass; 100 mm are %.1f\n", rate,
        1e3 * length, 1e3 * raw, 1e3 * path_without_filter(still), 1e3 * path_length(track_of(moving).tip));
    EXPECT_LT(length, rate > 500.0 ? 0.010 : 0.025);
    EXPECT_GT(path_without_filter(still), 3.0 * length);
    EXPECT_NEAR(path_length(track_of(moving).tip), 0.1, rate > 500.0 ? 0.001 : 0.006);
  }
}

TEST(Track, InvalidFramesAreIgnored) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  TrackSamples samples;
  for (int k = 0; k <= 120; ++k) {
    const double t = k / 60.0;
    samples.add(t, {0.05 * t, 0, 0}, test::kPivot, 0.0);
    if (k % 10 == 3) samples.add(t + 0.001, {nan, 0, 0}, test::kPivot, 0.0);
    if (k % 10 == 5) samples.add(t - 0.5, {7, 7, 7}, test::kPivot, 0.0);  // time decreases
    if (k % 10 == 7) samples.add(t, {9, 9, 9}, test::kPivot, 0.0);        // time stands still
    if (k % 10 == 8) samples.add(nan, {0, 0, 0}, test::kPivot, 0.0);
  }
  const Track track = track_of(samples);
  EXPECT_NEAR(path_length(track.tip), 0.1, 1e-6);
  EXPECT_NEAR(peak_speed(track), 0.05, 1e-6);
}

TEST(Track, PartsKnowTheirStart) {
  const Track track = track_of(sampled(test::minimum_jerk({0.1, 0, 0}, 1.0, 2.0), 5.0, 60.0));
  const Track active = active_part(track, kActiveSpeed);
  EXPECT_NEAR(active.start, 2.0, 0.05);
  EXPECT_NEAR(active.duration(), 1.0, 0.08);
}

}  // namespace
}  // namespace trocar
