// Tests the estimate of a sensor's noise with known noise on known motions, and what the noise does to each measure of
// smoothness: docs/metrics.md prints the tables.
#include "sim/score/track.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "sim/score/motion.hpp"
#include "sim/score/smoothness.hpp"
#include "tests/sim/score_support.hpp"

namespace trocar {
namespace {

// Reaches of 60 mm, there and back, of `reach` s each, with pauses of 0.3 s.
test::Path reaches(int count, double reach = 1.0) {
  return [=](double t) {
    glm::dvec3 tip(0.0);
    for (int k = 0; k < count; ++k) {
      const double sign = k % 2 ? -1.0 : 1.0;
      tip += test::minimum_jerk(sign * glm::dvec3(0.036, 0.048, 0.0), reach, 0.3 + k * (reach + 0.3))(t);
    }
    return tip;
  };
}
double length_of(int count, double reach = 1.0) { return 0.3 + count * (reach + 0.3); }

// Samples a path with white noise; `jitter`: part of the time step by which a sample's time varies.
TrackSamples noisy(const test::Path& path, double duration, double rate, double noise, unsigned seed,
                   double jitter = 0.0) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0.0, noise > 0.0 ? noise : 1.0);
  std::uniform_real_distribution<double> late(0.0, jitter / rate);
  TrackSamples samples;
  for (int k = 0; k <= std::lround(duration * rate); ++k) {
    const double t = k / rate + (jitter > 0.0 ? late(random) : 0.0);
    glm::dvec3 tip = path(t);
    if (noise > 0.0) tip += glm::dvec3(normal(random), normal(random), normal(random));
    samples.add(t, tip, test::kPivot, 0.0);
  }
  return samples;
}

double value_of(const std::vector<Metric>& metrics, const char* id) {
  const auto found = std::find_if(metrics.begin(), metrics.end(), [&](const Metric& m) { return m.id == id; });
  return found == metrics.end() ? 1e99 : found->value;
}

TEST(Noise, IsFoundBesideTheMotion) {
  for (const double rate : {30.0, 60.0, 100.0, 240.0, 1000.0})
    for (const double noise : {1e-6, 1e-5, 1e-4, 1e-3})
      for (const double jitter : {0.0, 0.8}) {
        const TrackSamples samples = noisy(reaches(6), length_of(6), rate, noise, 7, jitter);
        const double found = noise_of(samples.time, samples.tip);
        // At 30 Hz a motion of a second is not a polynomial over seven samples to within a micrometre.
        const double least = rate < 60.0 ? 1e-5 : 1e-6;
        if (noise >= least) {
          EXPECT_NEAR(found / noise, 1.0, 0.2) << rate << " Hz, " << noise << " m, jitter " << jitter;
        }
      }
}

TEST(Noise, OfAnExactMotionIsNothing) {
  for (const double rate : {60.0, 100.0, 1000.0}) {
    const TrackSamples samples = noisy(reaches(4), length_of(4), rate, 0.0, 1);
    EXPECT_LT(noise_of(samples.time, samples.tip), 2e-7) << rate;
  }
  EXPECT_EQ(noise_of({}, {}), 0.0);
  const TrackSamples few = noisy(reaches(1), 0.05, 100.0, 1e-3, 1);
  ASSERT_EQ(few.time.size(), 6u);
  EXPECT_EQ(noise_of(few.time, few.tip), 0.0);
}

// The jerk of noise alone, through the whole chain of averaging, spline and low-pass.
TEST(Noise, LeavesThePredictedJerk) {
  for (const double rate : {30.0, 60.0, 100.0, 250.0, 1000.0}) {
    const TrackSamples samples = noisy([](double) { return glm::dvec3(0.0); }, 200.0, rate, 1e-4, 11);
    const Track track = track_of(samples);
    const double predicted = noise_jerk(1e-4, rate);
    EXPECT_NEAR(mean_squared_jerk(track.tip, kTrackRate) / predicted, 1.0, rate < 60.0 ? 0.35 : 0.12) << rate << " Hz";
    EXPECT_NEAR(track.noise_jerk / predicted, 1.0, 0.1);
  }
  EXPECT_EQ(noise_jerk(0.0, 60.0), 0.0);
  EXPECT_EQ(noise_jerk(1e-4, 0.0), 0.0);
}

TEST(Noise, JerkIsEmptyWhereItWouldMeasureTheSensor) {
  std::printf("noise mm   sparc of a movement   ldlj of a movement   ldlj (without the rule)   found mm\n");
  double clean_arc = 0.0, clean_jerk = 0.0;
  for (const double noise : {0.0, 1e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3}) {
    const Track track = track_of(noisy(reaches(6), length_of(6), 60.0, noise, 3));
    const std::vector<Metric> metrics = motion_metrics(track, {});
    const double arc = value_of(metrics, "sparc_movement"), jerk = value_of(metrics, "ldlj_movement");
    const double bare = log_dimensionless_jerk(movements_of(track)[0].tip, kTrackRate);
    std::printf("%8.3f   %10.2f   %10.2f   %10.2f   %8.4f\n", noise * 1e3, arc, jerk, bare, track.noise * 1e3);
    if (noise == 0.0) clean_arc = arc, clean_jerk = jerk;
    if (noise <= 1e-4) {
      EXPECT_NEAR(arc, clean_arc, 0.06) << noise;
    }
    if (!std::isnan(jerk)) {
      EXPECT_NEAR(jerk, clean_jerk, 0.35) << noise;
    }
    EXPECT_EQ(std::isnan(jerk), noise > 5e-6) << noise;
    EXPECT_EQ(std::isnan(value_of(metrics, "mean_squared_jerk")), noise > 5e-6) << noise;
    EXPECT_NEAR(value_of(metrics, "noise"), noise * 1e3, 0.2 * noise * 1e3 + 1e-4);
  }
  EXPECT_NEAR(clean_jerk, -std::log(204.8), 0.4);
  EXPECT_NEAR(clean_arc, -1.41, 0.06);
}

// Slow movements, whose jerk is below the noise, do not count as rough ones; with more of them than of others there is
// no value.
TEST(Noise, TheMedianIsOfTheMovementsThatHaveAValue) {
  const auto metrics_of = [](int fast, int slow) {
    const test::Path quick = reaches(fast, 0.4), calm = reaches(slow, 1.5);
    const double then = length_of(fast, 0.4);
    const test::Path both = [=](double t) { return t < then ? quick(t) : quick(then) + calm(t - then); };
    return motion_metrics(track_of(noisy(both, then + length_of(slow, 1.5), 60.0, 2e-5, 9)), {});
  };
  EXPECT_NEAR(value_of(metrics_of(6, 4), "ldlj_movement"), value_of(metrics_of(6, 0), "ldlj_movement"), 0.05);
  EXPECT_NEAR(value_of(metrics_of(6, 4), "ldlj_movement"), -std::log(204.8), 0.4);
  EXPECT_TRUE(std::isnan(value_of(metrics_of(4, 6), "ldlj_movement")));
}

TEST(Noise, OfAMovementDoesNotDependOnTheRate) {
  std::printf("rate Hz   sparc of a movement   ldlj of a movement   log jerk per second\n");
  double arc = 0.0, jerk = 0.0;
  for (const double rate : {1000.0, 240.0, 100.0, 60.0, 30.0, 20.0}) {
    const std::vector<Metric> metrics = motion_metrics(track_of(noisy(reaches(6), length_of(6), rate, 0.0, 1)), {});
    std::printf("%7.0f   %10.2f   %10.2f   %10.2f\n", rate, value_of(metrics, "sparc_movement"),
                value_of(metrics, "ldlj_movement"), value_of(metrics, "log_jerk"));
    if (rate == 1000.0) arc = value_of(metrics, "sparc_movement"), jerk = value_of(metrics, "ldlj_movement");
    EXPECT_NEAR(value_of(metrics, "sparc_movement"), arc, 0.03) << rate;
    EXPECT_NEAR(value_of(metrics, "ldlj_movement"), jerk, 0.2) << rate;
  }
}

TEST(Noise, OfAMovementDoesNotDependOnTheLengthOfTheAttempt) {
  std::printf("reaches   sparc of a movement   ldlj of a movement   log jerk per second   sparc   ldlj\n");
  double arc = 0.0, jerk = 0.0, rate = 0.0, whole = 0.0;
  for (const int count : {2, 4, 8, 16, 32}) {
    const std::vector<Metric> metrics =
        motion_metrics(track_of(noisy(reaches(count), length_of(count), 60.0, 1e-6, 5)), {});
    const auto value = [&](const char* id) { return value_of(metrics, id); };
    std::printf("%7d   %10.2f   %10.2f   %10.2f   %10.2f   %10.2f\n", count, value("sparc_movement"),
                value("ldlj_movement"), value("log_jerk"), value("sparc"), value("ldlj"));
    if (count == 2) arc = value("sparc_movement"), jerk = value("ldlj_movement"), rate = value("log_jerk");
    EXPECT_NEAR(value("sparc_movement"), arc, 0.03);
    EXPECT_NEAR(value("ldlj_movement"), jerk, 0.1);
    EXPECT_NEAR(value("log_jerk"), rate, 0.15);
    // Twice the length: twice the integral and eight times the factor.
    if (whole < 0.0) {
      EXPECT_NEAR(value("ldlj") - whole, -4.0 * std::log(2.0), 0.6);
    }
    whole = value("ldlj");
  }
}

TEST(Noise, JerkPerSecondHasItsClosedForm) {
  const double w = 2.0 * std::numbers::pi * 1.5;
  std::vector<glm::dvec3> tip;
  for (int k = 0; k < 4000; ++k) tip.emplace_back(0.02 * std::sin(w * k / 1000.0), 0.0, 0.0);
  EXPECT_NEAR(log_jerk_per_second(tip, 1000.0), -4.0 * std::log(w), 0.01);
  EXPECT_TRUE(std::isnan(log_jerk_per_second({}, 100.0)));
  EXPECT_TRUE(std::isnan(log_jerk_per_second(std::vector<glm::dvec3>(9, glm::dvec3(0.1)), 100.0)));
}

}  // namespace
}  // namespace trocar
