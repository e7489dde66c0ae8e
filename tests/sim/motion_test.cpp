// Compares motion metrics with closed forms; they are the same at every frame rate.
#include "sim/score/motion.hpp"

#include <gtest/gtest.h>

#include "tests/sim/score_support.hpp"

namespace trocar {
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

}  // namespace
}  // namespace trocar
