// Tests metrics of tracks that are short enough to compute by hand: the smallest number of samples for each, tracks
// that do not start at zero, instruments that do not start together, limits of the spectrum.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sim/score/learning_curve.hpp"
#include "sim/score/motion.hpp"
#include "sim/score/smoothness.hpp"
#include "sim/score/track.hpp"

namespace trocar {
namespace {

constexpr double kStep = 1.0 / kTrackRate;  // s

Track track_through(const std::vector<glm::dvec3>& tip, double start = 0.0) {
  Track track;
  track.start = start;
  track.tip = tip;
  track.pivot.assign(tip.size(), glm::dvec3(0.0, 0.0, 0.3));
  track.roll_deg.assign(tip.size(), 0.0);
  track.speed.assign(tip.size(), 0.0);
  return track;
}

TEST(MetricsByHand, TwoSamplesAreEnough) {
  // The tip is 0.3 m below the trocar, then 0.4 m to its side at the trocar's height: a quarter turn, 0.1 m deeper.
  Track track = track_through({{0.0, 0.0, 0.0}, {0.4, 0.0, 0.3}});
  track.roll_deg = {10.0, -35.0};
  track.speed = {0.25, 0.002};
  EXPECT_DOUBLE_EQ(path_length(track.tip), 0.5);
  EXPECT_DOUBLE_EQ(path_inefficiency(track, {}), 1.0);
  EXPECT_NEAR(depth_travelled(track), 0.1, 1e-12);
  EXPECT_NEAR(shaft_turned(track), 90.0, 1e-9);
  EXPECT_DOUBLE_EQ(roll_turned(track), 45.0);
  EXPECT_EQ(volume_used(track), 0.0);
  EXPECT_DOUBLE_EQ(volume_used(track_through({{0.0, 0.1, 0.2}, {0.1, 0.3, 0.5}})), 0.1 * 0.2 * 0.3);
  EXPECT_DOUBLE_EQ(track.duration(), kStep);
  EXPECT_DOUBLE_EQ(mean_speed(track), 0.5 * kTrackRate);
  EXPECT_EQ(peak_speed(track), 0.25);
  EXPECT_EQ(idle_share(track), 0.5);
}

TEST(MetricsByHand, OneSampleIsNotEnough) {
  const Track track = track_through({{0.0, 0.0, 0.0}});
  for (const double metric : {path_length(track.tip), path_inefficiency(track, {}), depth_travelled(track),
                              shaft_turned(track), roll_turned(track), volume_used(track), mean_speed(track),
                              peak_speed(track), idle_share(track), economy_of_volume(track)})
    EXPECT_TRUE(std::isnan(metric));
  EXPECT_EQ(track.duration(), 0.0);
}

// Stops are times: in a track that starts at 2 s, the second sample is at 2.01 s. Earlier and later times are clamped.
TEST(MetricsByHand, StopsAreTimesOfTheTrack) {
  const Track track = track_through({{0.0, 0, 0}, {0.03, 0.04, 0}, {0.03, 0, 0}, {0.06, 0, 0}}, 2.0);
  const double path = 0.05 + 0.04 + 0.03;
  EXPECT_NEAR(path_inefficiency(track, {}), path / 0.06, 1e-12);
  EXPECT_NEAR(path_inefficiency(track, std::vector{2.0 + kStep}), path / (0.05 + 0.05), 1e-12);
  EXPECT_NEAR(path_inefficiency(track, std::vector{2.0 + 2 * kStep}), path / (0.03 + 0.03), 1e-12);
  EXPECT_NEAR(path_inefficiency(track, std::vector{1.0, 2.0 + kStep, 9.0}), path / (0.05 + 0.05), 1e-12);
}

// The speeds of both instruments are the same function of time; they start and end at different times.
TEST(MetricsByHand, InstrumentsAreComparedAtTheSameTimes) {
  const auto hand = [](double start, int samples, double delay) {
    Track track = track_through(std::vector<glm::dvec3>(static_cast<std::size_t>(samples)), start);
    for (std::size_t k = 0; k < track.size(); ++k) {
      const double time = start + static_cast<double>(k) * kStep - delay;
      track.speed[k] = 0.1 + 0.05 * std::sin(7.0 * time) + 0.02 * time * time;
    }
    return track;
  };
  for (const double first : {0.0, 1.5, 4.0}) {
    const Track left = hand(first, 500, 0.0), right = hand(1.0, 400, 0.0), late = hand(1.0, 400, 0.3);
    EXPECT_NEAR(speed_correlation(left, right), 1.0, 1e-9);
    EXPECT_NEAR(speed_correlation(right, left), 1.0, 1e-9);
    EXPECT_LT(speed_correlation(left, late), 0.95);
  }
  // The tracks have no common time, or less than a second of it.
  EXPECT_TRUE(std::isnan(speed_correlation(hand(0.0, 200, 0.0), hand(2.0, 200, 0.0))));
  EXPECT_TRUE(std::isnan(speed_correlation(hand(2.0, 200, 0.0), hand(0.0, 200, 0.0))));
  EXPECT_TRUE(std::isnan(speed_correlation(hand(0.0, 200, 0.0), hand(9.0, 200, 0.0))));
  EXPECT_TRUE(std::isnan(speed_correlation(hand(0.0, 299, 0.0), hand(2.0, 299, 0.0))));
  EXPECT_FALSE(std::isnan(speed_correlation(hand(0.0, 300, 0.0), hand(2.0, 299, 0.0))));
}

// x = c t^3 at t = -2 .. 2 steps: all its third differences are 6 c.
TEST(MetricsByHand, JerkOfFiveSamples) {
  const double rate = 10.0, c = 0.7;
  std::vector<glm::dvec3> tip;
  for (int k = -2; k <= 2; ++k) tip.emplace_back(0.0, c * std::pow(k / rate, 3), 0.0);
  const double squared = 36.0 * c * c, duration = 0.4;
  EXPECT_NEAR(integrated_squared_jerk(tip, rate), squared * duration, 1e-9);
  EXPECT_NEAR(mean_squared_jerk(tip, rate), squared, 1e-9);
  // Central differences at the three inner samples: from 0 to 2 steps, 8 c / 100 over two of them.
  const double peak = c * 8.0 / 1000.0 / 0.2;
  EXPECT_NEAR(log_dimensionless_jerk(tip, rate), -std::log(std::pow(duration, 4) / (peak * peak) * squared), 1e-9);
  tip.pop_back();
  EXPECT_TRUE(std::isnan(integrated_squared_jerk(tip, rate)));
  EXPECT_TRUE(std::isnan(mean_squared_jerk(tip, rate)));
  EXPECT_TRUE(std::isnan(log_dimensionless_jerk(tip, rate)));
}

// Computes the spectral arc length by its definition, frequency by frequency, up to arc.highest or half the sampling
// rate.
double arc_by_definition(const std::vector<double>& speed, double rate, const SpectralArc& arc) {
  std::size_t length = 1;
  while (length < speed.size()) length *= 2;
  length <<= arc.padding;
  std::vector<double> magnitude;
  for (std::size_t k = 0; k <= length / 2; ++k) {
    if (static_cast<double>(k) * rate / static_cast<double>(length) > arc.highest) break;
    glm::dvec2 sum(0.0);
    for (std::size_t n = 0; n < speed.size(); ++n) {
      const double angle = 2.0 * std::numbers::pi * static_cast<double>(k * n % length) / static_cast<double>(length);
      sum += speed[n] * glm::dvec2(std::cos(angle), -std::sin(angle));
    }
    magnitude.push_back(glm::length(sum));
  }
  const double largest = *std::max_element(magnitude.begin(), magnitude.end());
  const auto counts = [&](double value) { return value >= arc.smallest * largest; };
  const auto first = std::find_if(magnitude.begin(), magnitude.end(), counts);
  const auto last = std::find_if(magnitude.rbegin(), magnitude.rend(), counts).base() - 1;
  double sum = 0.0;
  for (auto at = first; at != last; ++at)
    sum += std::hypot(1.0 / static_cast<double>(last - first), (at[1] - at[0]) / largest);
  return -sum;
}

// Tests oscillations of 8, 10 and 15 Hz on a reaching movement: the arc includes frequencies up to its highest one.
TEST(MetricsByHand, SpectrumEndsAtItsHighestFrequency) {
  for (const double shaking : {8.0, 10.0, 15.0}) {
    std::vector<double> speed;
    for (int k = 0; k < 64; ++k)
      speed.push_back(1.0 - std::cos(2.0 * std::numbers::pi * k / 64.0) +
                      1.5 * std::cos(2.0 * std::numbers::pi * shaking * k / 64.0));
    for (const double highest : {5.0, 8.0, 10.0, 16.0, 32.0, 50.0}) {
      const SpectralArc arc{.highest = highest};
      EXPECT_NEAR(spectral_arc_length(speed, 64.0, arc), arc_by_definition(speed, 64.0, arc), 1e-9) << highest;
    }
    EXPECT_NEAR(spectral_arc_length(speed, 64.0), arc_by_definition(speed, 64.0, {.highest = 10.0}), 1e-9);
  }
}

TEST(MetricsByHand, SpectrumOfTwoSamples) {
  const std::vector<double> speed{1.0, 0.5};
  EXPECT_NEAR(spectral_arc_length(speed, 10.0), arc_by_definition(speed, 10.0, {}), 1e-9);
  EXPECT_TRUE(std::isnan(spectral_arc_length(std::vector{1.0}, 10.0)));
}

// There are four samples per step, the first at 3.7 s; the mean of each step's samples replaces them.
TEST(MetricsByHand, ThinnedTakesMeansOfSteps) {
  std::vector<double> time, value;
  for (int k = 0; k < 12; ++k) {
    time.push_back(3.7 + 0.025 * k + 0.001);
    value.push_back(static_cast<double>(k * k));
  }
  const Knots knots = thinned(time, value, 10.0);
  ASSERT_EQ(knots.time.size(), 3u);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(knots.time[k], 3.701 + 0.1 * static_cast<double>(k) + 0.0375, 1e-12);
    const double at = 4.0 * static_cast<double>(k);
    EXPECT_NEAR(knots.value[k], at * at + 3.0 * at + 3.5, 1e-12);  // mean of at .. at + 3 squared
  }
}

TEST(MetricsByHand, SplineAndLowPassOfOneAndTwoValues) {
  EXPECT_EQ(spline_samples({{5.0}, {0.3}}, 100.0), std::vector<double>{0.3});
  const auto line = spline_samples({{5.0, 5.04}, {1.0, 3.0}}, 100.0);
  ASSERT_EQ(line.size(), 5u);
  for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(line[k], 1.0 + 0.5 * static_cast<double>(k), 1e-9);
  EXPECT_EQ(low_passed(std::vector{0.7}, 100.0, 10.0), std::vector<double>{0.7});
  const auto two = low_passed(std::vector{0.7, 0.9}, 100.0, 10.0);
  ASSERT_EQ(two.size(), 2u);
  EXPECT_NE(two[0], 0.7);  // the filter was applied
  EXPECT_NEAR(two[0] + two[1], 1.6, 0.2);
}

// A cut-off above half the sampling rate is clamped just below it: slow motion passes, and nothing is amplified.
TEST(MetricsByHand, LowPassWithACutOffBeyondHalfTheRate) {
  for (const double cut_off : {8.0, 10.0, 40.0}) {
    std::vector<double> wave;
    for (int k = 0; k < 200; ++k) wave.push_back(std::sin(0.1 * k));
    const auto passed = low_passed(wave, 16.0, cut_off);
    for (std::size_t k = 0; k < wave.size(); ++k) ASSERT_NEAR(passed[k], wave[k], 1e-3) << cut_off;
  }
}

// Two samples 10 ms apart: the speed at both is their distance over the time.
TEST(MetricsByHand, SpeedOfTwoSamples) {
  TrackSamples samples;
  samples.add(1.0, {0.0, 0, 0}, {0, 0, 0.3}, 0.0);
  samples.add(1.0 + kStep, {0.001, 0, 0}, {0, 0, 0.3}, 0.0);
  const Track track = track_of(samples);
  ASSERT_EQ(track.size(), 2u);
  EXPECT_EQ(track.start, 1.0);
  for (const double speed : track.speed) EXPECT_NEAR(speed, path_length(track.tip) / kStep, 1e-12);
  EXPECT_GT(track.speed[0], 0.0);
}

TEST(MetricsByHand, AttemptsAreOrderedByDate) {
  std::vector<Attempt> attempts(3);
  attempts[0].date = "2026-03-03", attempts[1].date = "2026-01-01", attempts[2].date = "2026-02-02";
  attempts[0].file = "c", attempts[1].file = "a", attempts[2].file = "b";
  const LearningCurve curve = learning_curve(attempts);
  EXPECT_EQ(curve.order, (std::vector<std::size_t>{1, 2, 0}));
  EXPECT_EQ(curve.files, (std::vector<std::string>{"a", "b", "c"}));
}

}  // namespace
}  // namespace trocar
