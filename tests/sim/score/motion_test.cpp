// Compares motion metrics with closed forms; they are the same at every frame rate.
#include "sim/score/motion.hpp"
#include "sim/score/attempt.hpp"
#include "sim/score/learning_curve.hpp"
#include "sim/score/smoothness.hpp"
#include "sim/score/track.hpp"
#include "tests/sim/score/score_support.hpp"
#include "tests/support/test.hpp"

namespace trocar::motion_test {
namespace {

using std::numbers::pi;
using test::exact_track;
using test::sampled;

test::Path line(const glm::dvec3& velocity) {
  return [=](double t) { return velocity * t; };
}

TEST(Motion, StraightLineAtConstantSpeed) {
  const Track track = exact_track(line({0.03, 0.04, 0.0}), 2.0);
  EXPECT_NEAR(path_length(track.tip), 0.1, 1e-12);
  EXPECT_NEAR(path_inefficiency(track, {}), 1.0, 1e-12);
  EXPECT_NEAR(mean_speed(track), 0.05, 1e-12);
  EXPECT_NEAR(peak_speed(track), 0.05, 1e-9);
  EXPECT_EQ(volume_used(track), 0.0);
  EXPECT_EQ(economy_of_volume(track), 0.0);
  EXPECT_EQ(movements(track), 1u);
  EXPECT_EQ(idle_share(track), 0.0);
  EXPECT_EQ(roll_turned(track), 0.0);
  // The shaft points down 0.3 m above the start: its direction ends at atan(0.1 / 0.3), its length at hypot.
  EXPECT_NEAR(shaft_turned(track), glm::degrees(std::atan2(0.1, 0.3)), 1e-9);
  EXPECT_NEAR(depth_travelled(track), std::hypot(0.1, 0.3) - 0.3, 1e-12);
}

TEST(Motion, BoxAroundADiagonal) {
  const Track track = exact_track(line({0.01, 0.02, -0.03}), 1.0);
  EXPECT_NEAR(volume_used(track), 6e-6, 1e-15);
  EXPECT_NEAR(economy_of_volume(track), std::cbrt(6e-6) / std::sqrt(0.0014), 1e-12);
}

TEST(Motion, CircleAroundThePivotsAxis) {
  const Track track = exact_track(test::circle(0.04, 0.5), 4.0);
  EXPECT_NEAR(path_length(track.tip), 2.0 * 2.0 * pi * 0.04, 1e-4);
  EXPECT_TRUE(std::isnan(path_inefficiency(track, {})));  // ends where it started
  // With a stop at the opposite point of each turn, the path is pi / 2 times the straight lines, which are diameters.
  EXPECT_NEAR(path_inefficiency(track, std::vector{1.0, 2.0, 3.0}), pi / 2.0, 1e-3);
  EXPECT_NEAR(depth_travelled(track), 0.0, 1e-12);
  // The shaft moves on a cone of half angle a: 2 pi sin(a) a turn.
  EXPECT_NEAR(shaft_turned(track), glm::degrees(2.0 * 2.0 * pi * 0.04 / std::hypot(0.04, 0.3)), 0.1);
}

TEST(Motion, RollIsUnwrapped) {
  TrackSamples samples;
  for (int k = 0; k <= 120; ++k)
    samples.add(k / 60.0, {0.001 * k, 0, 0}, test::kPivot, std::remainder(6.0 * k, 360.0));  // two turns
  EXPECT_NEAR(roll_turned(track_of(samples)), 720.0, 0.5);
}

TEST(Motion, MovementsAndRest) {
  // The path has three movements of a second, with a second of rest after each.
  test::Path path = [](double t) {
    glm::dvec3 tip(0.0);
    for (int k = 0; k < 3; ++k) tip += test::minimum_jerk({0.05, 0.0, 0.0}, 1.0, 2.0 * k)(t);
    return tip;
  };
  const Track track = track_of(sampled(path, 6.0, 60.0));
  EXPECT_EQ(movements(track), 3u);
  // The tip is slower than 5 mm/s for 6 % at either end of each movement: 1.5 s^2 (1 - s)^2 = 0.005 where s is 0.0599.
  EXPECT_NEAR(idle_share(track), 0.5 + 0.06, 0.02);
  EXPECT_NEAR(peak_speed(track), 1.875 * 0.05, 0.001);
}

TEST(Motion, SpeedsOfBothHands) {
  const Track sine = exact_track([](double t) { return glm::dvec3(0.02 * std::sin(t), 0, 0); }, 20.0);
  const Track same = exact_track([](double t) { return glm::dvec3(0, 0.05 * std::sin(t), 0); }, 20.0);
  // |cos| and |sin| have the mean 2 / pi, the mean product 1 / pi and the variance 1 / 2 - 4 / pi^2.
  const Track other = exact_track([](double t) { return glm::dvec3(0, 0.02 * std::cos(t), 0); }, 10.0 * pi);
  const Track whole = exact_track([](double t) { return glm::dvec3(0.02 * std::sin(t), 0, 0); }, 10.0 * pi);
  EXPECT_NEAR(speed_correlation(sine, same), 1.0, 1e-6);
  EXPECT_NEAR(speed_correlation(whole, other), (1.0 / pi - 4.0 / (pi * pi)) / (0.5 - 4.0 / (pi * pi)), 0.01);
  EXPECT_TRUE(std::isnan(speed_correlation(sine, exact_track(line({0.01, 0, 0}), 20.0))));
  EXPECT_TRUE(std::isnan(speed_correlation(sine, {})));
}

TEST(Motion, TheSameAtEveryRate) {
  const test::Path path = [](double t) {
    return glm::dvec3(0.05 * std::sin(1.3 * t), 0.03 * std::sin(2.1 * t), 0.02 * std::cos(0.7 * t));
  };
  const Track exact = exact_track(path, 10.0);
  for (const double rate : {10.0, 24.0, 30.0, 60.0, 100.0, 144.0, 333.0, 1000.0}) {
    const Track track = track_of(sampled(path, 10.0, rate));
    EXPECT_NEAR(path_length(track.tip) / path_length(exact.tip), 1.0, 0.005) << rate;
    EXPECT_NEAR(depth_travelled(track) / depth_travelled(exact), 1.0, 0.01) << rate;
    EXPECT_NEAR(shaft_turned(track) / shaft_turned(exact), 1.0, 0.005) << rate;
    EXPECT_NEAR(volume_used(track) / volume_used(exact), 1.0, 0.01) << rate;
    EXPECT_NEAR(mean_speed(track) / mean_speed(exact), 1.0, 0.005) << rate;
    EXPECT_NEAR(peak_speed(track) / peak_speed(exact), 1.0, 0.01) << rate;
    EXPECT_EQ(movements(track), movements(exact)) << rate;
  }
}

TEST(Motion, UndefinedWithoutData) {
  const Track none = track_of({}), one = track_of(sampled(line({1, 0, 0}), 0.0, 60.0));
  for (const Track& track : {none, one}) {
    EXPECT_TRUE(std::isnan(path_length(track.tip)));
    EXPECT_TRUE(std::isnan(path_inefficiency(track, std::vector{1.0})));
    EXPECT_TRUE(std::isnan(mean_speed(track)));
    EXPECT_TRUE(std::isnan(peak_speed(track)));
    EXPECT_TRUE(std::isnan(volume_used(track)));
    EXPECT_TRUE(std::isnan(idle_share(track)));
    EXPECT_EQ(movements(track), 0u);
    EXPECT_EQ(active_part(track, kActiveSpeed).size(), 0u);
  }
  const Track still = track_of(sampled([](double) { return glm::dvec3(0.1); }, 3.0, 60.0));
  EXPECT_EQ(path_length(still.tip), 0.0);
  EXPECT_TRUE(std::isnan(economy_of_volume(still)));
  EXPECT_EQ(idle_share(still), 1.0);
  EXPECT_EQ(active_part(still, kActiveSpeed).size(), 0u);
}

// Compares jerk and spectral arc length with closed forms, the authors' published example, and direct integration.

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

// Tests the even track made from recorded samples: it is exact where a spline is exact, the same at every rate,
// insensitive to noise, and robust against invalid frames.

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

// Tests the estimate of a sensor's noise with known noise on known motions, and what the noise does to each measure of
// smoothness: docs/metrics.md prints the tables.

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

TEST(Noise, JerkIsEmptyWhereItWouldMeasureTheSensor) {
  std::printf("noise mm   sparc of a movement   ldlj of a movement   ldlj (without the rule)   found mm\n");
  double clean_arc = 0.0, clean_jerk = 0.0;
  for (const double noise : {0.0, 1e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3}) {
    const MeasuredTrack measured = measured_track(noisy(reaches(6), length_of(6), 60.0, noise, 3));
    const std::vector<Metric> metrics = motion_metrics(measured, {});
    const double arc = value_of(metrics, "sparc_movement"), jerk = value_of(metrics, "ldlj_movement");
    const double bare = log_dimensionless_jerk(movements_of(measured.track)[0].fine, kTrackRate);
    std::printf("%8.3f   %10.2f   %10.2f   %10.2f   %8.4f\n", noise * 1e3, arc, jerk, bare, measured.noise * 1e3);
    if (noise == 0.0) clean_arc = arc, clean_jerk = jerk;
    if (!std::isnan(arc)) {
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

TEST(Noise, OfAMovementDoesNotDependOnTheRate) {
  std::printf("rate Hz   sparc of a movement   ldlj of a movement   log jerk per second\n");
  double arc = 0.0, jerk = 0.0;
  for (const double rate : {1000.0, 240.0, 100.0, 60.0, 30.0, 20.0}) {
    const std::vector<Metric> metrics =
        motion_metrics(measured_track(noisy(reaches(6), length_of(6), rate, 0.0, 1)), {});
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
        motion_metrics(measured_track(noisy(reaches(count), length_of(count), 60.0, 1e-6, 5)), {});
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

// Tests grades of metrics, and shares of time of uneven frames.

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

TEST(Score, Grades) {
  const auto mark = [](double v, double good, double poor) { return mark_of({"", "", "", v, good, poor}); };
  EXPECT_EQ(mark(2.0, 1.0, 3.0), 0.5);
  EXPECT_EQ(mark(2.0, 3.0, 1.0), 0.5);
  EXPECT_EQ(mark(0.0, 1.0, 3.0), 1.0);
  EXPECT_EQ(mark(9.0, 1.0, 3.0), 0.0);
  EXPECT_EQ(mark(1.0, 1.0, 1.0), 1.0);
  EXPECT_FALSE(std::signbit(*mark(3.0, 1.0, 3.0)));
  EXPECT_FALSE(mark(kNone, 1.0, 3.0));
  EXPECT_FALSE(mark_of({"", "", "", 1.0, 1.0, {}}));
}

TEST(Score, SharesOfUnevenFrames) {
  const std::vector<double> times{1.0, 1.5, 1.6, 1.6, 3.0};
  const auto shares = frame_shares(times);
  EXPECT_NEAR(time_of(shares, std::vector<char>{1, 1, 1, 1, 1}), 2.0, 1e-12);
  EXPECT_NEAR(time_of(shares, std::vector<char>{1, 0, 1, 1, 0}), 0.1, 1e-12);
  EXPECT_TRUE(frame_shares({}).empty());
  EXPECT_EQ(beginnings(times, std::vector<char>{1, 0, 1, 1, 0}, 0.25), 2u);
  EXPECT_EQ(beginnings(times, std::vector<char>{1, 0, 1, 1, 0}, 0.75), 1u);
  EXPECT_EQ(beginnings(times, std::vector<char>{0, 0, 0, 0, 0}, 0.25), 0u);
}

// Tests metrics of tracks that are short enough to compute by hand: the smallest number of samples for each, tracks
// that do not start at zero, instruments that do not start together, limits of the spectrum.

constexpr double kStep = 1.0 / kTrackRate;  // s

Track track_through(const std::vector<glm::dvec3>& tip, double start = 0.0) {
  Track track;
  track.start = start, track.tip = tip;
  track.pivot.assign(tip.size(), glm::dvec3(0.0, 0.0, 0.3));
  track.roll_deg.assign(tip.size(), 0.0);
  track.speed.assign(tip.size(), 0.0);
  return track;
}

TEST(MetricsByHand, TwoSamplesAreEnough) {
  // The tip is 0.3 m below the trocar, then 0.4 m to its side at the trocar's height: a quarter turn, 0.1 m deeper.
  Track track = track_through({{0.0, 0.0, 0.0}, {0.4, 0.0, 0.3}});
  track.roll_deg = {10.0, -35.0}, track.speed = {0.25, 0.002};
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

}  // namespace trocar::motion_test
