// Tests that the fit recovers the curve of practice from data that follow it and is the best there is, and that
// attempts are ordered.
#include "sim/score/learning_curve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

namespace trocar {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> curve_of(double limit, double gain, double rate, int attempts) {
  std::vector<double> values;
  for (int n = 1; n <= attempts; ++n) values.push_back(limit + gain * std::pow(n, -rate));
  return values;
}

// Falling and rising, towards limits of any sign.
TEST(LearningCurve, RecoversTheCurve) {
  for (const double limit : {40.0, 0.0, -60.0})
    for (const double gain : {50.0, -30.0})
      for (const double rate : {0.2, 0.35, 1.0, 2.0}) {
        std::vector<double> values = curve_of(limit, gain, rate, 14);
        values[4] = kNan;
        const auto fit = fit_practice(values);
        ASSERT_TRUE(fit);
        EXPECT_NEAR(fit->limit, limit, 1e-3) << limit << " " << gain << " " << rate;
        EXPECT_NEAR(fit->gain, gain, 1e-3);
        EXPECT_NEAR(fit->rate, rate, 1e-4);
        EXPECT_NEAR(fit->explained, 1.0, 1e-9);
        EXPECT_NEAR(fit->at(8.0), limit + gain * std::pow(8.0, -rate), 1e-5);
      }
}

// No other limit, gain and rate of a fine grid leaves smaller squares.
TEST(LearningCurve, IsTheBestOfAGrid) {
  std::mt19937 random(61);
  std::printf("seed 61\n");
  std::normal_distribution<double> noise(0.0, 2.0);
  for (int round = 0; round < 5; ++round) {
    std::vector<double> values = curve_of(-3.0, 12.0, 0.6, 10);
    for (double& value : values) value += noise(random);
    const auto squares = [&](double limit, double gain, double rate) {
      double sum = 0.0;
      for (std::size_t k = 0; k < values.size(); ++k) {
        const double off = values[k] - limit - gain * std::pow(static_cast<double>(k + 1), -rate);
        sum += off * off;
      }
      return sum;
    };
    const auto fit = fit_practice(values);
    ASSERT_TRUE(fit);
    const double least = squares(fit->limit, fit->gain, fit->rate);
    for (double rate = 0.05; rate < 5.0; rate *= 1.1)
      for (double limit = -30.0; limit < 30.0; limit += 1.0)
        for (double gain = -40.0; gain < 40.0; gain += 1.0) ASSERT_GE(squares(limit, gain, rate), least - 1e-9);
  }
}

// Counts of errors reach zero, and a smoothness is negative: all values count.
TEST(LearningCurve, ZerosAndNegativeValuesCount) {
  const auto errors = fit_practice(std::vector{6.0, 3.0, 1.0, 0.0, 0.0, 0.0});
  ASSERT_TRUE(errors);
  EXPECT_GE(errors->limit, 0.0);
  EXPECT_LT(errors->at(6.0), 1.2);
  const auto smoothness = fit_practice(std::vector{-9.0, -7.5, -7.0, -6.8, -6.6});
  ASSERT_TRUE(smoothness);
  EXPECT_LT(smoothness->limit, -5.0);
  EXPECT_LT(smoothness->gain, 0.0);
  EXPECT_GT(smoothness->explained, 0.98);
}

TEST(LearningCurve, FewValuesByHand) {
  // 1, 1/2, 1/4 of the gain: 2 + 4 / n.
  const auto fit = fit_practice(std::vector{6.0, 4.0, kNan, 3.0});
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->rate, 1.0);
  EXPECT_NEAR(fit->limit, 2.0, 1e-12);
  EXPECT_NEAR(fit->gain, 4.0, 1e-12);
  const auto constant = fit_practice(std::vector{3.0, 3.0, 3.0});
  EXPECT_NEAR(constant->gain, 0.0, 1e-12);
  EXPECT_EQ(constant->explained, 1.0);
  EXPECT_NEAR(fit_practice(std::vector{8.0, 2.0, 8.0, 2.0, 8.0, 2.0, 8.0})->explained, 0.0, 0.2);
  EXPECT_FALSE(fit_practice(std::vector{3.0, kNan, 1.0}));
  EXPECT_FALSE(fit_practice({}));
}

TEST(LearningCurve, AttemptsByDate) {
  std::vector<Attempt> attempts(3);
  attempts[0].date = "2026-03-01";
  attempts[1].date = "2026-02-01";
  attempts[2].date = "2026-03-01";
  for (std::size_t k = 0; k < 3; ++k) {
    attempts[k].file = std::string(1, static_cast<char>('a' + k));
    attempts[k].overall = {{"duration", "Time", "s", 10.0 * static_cast<double>(k + 1), {}, {}, ""}};
    attempts[k].instruments = {{"probe", {{"path_length", "Path length", "mm", 100.0, {}, {}, ""}}}};
  }
  attempts[2].instruments.push_back({"hook", {{"path_length", "Path length", "mm", 5.0, {}, {}, ""}}});
  attempts[0].task = TaskResult{"touch", "Touch", true, 80.0, {}, {}};
  const LearningCurve curve = learning_curve(attempts);
  EXPECT_EQ(curve.files, (std::vector<std::string>{"b", "a", "c"}));
  EXPECT_EQ(curve.order, (std::vector<std::size_t>{1, 0, 2}));
  ASSERT_EQ(curve.curves.size(), 4u);
  EXPECT_EQ(curve.curves[0].id, "task_score");
  EXPECT_TRUE(std::isnan(curve.curves[0].values[0]));
  EXPECT_EQ(curve.curves[0].values[1], 80.0);
  EXPECT_EQ(curve.curves[1].values, (std::vector<double>{20.0, 10.0, 30.0}));
  EXPECT_TRUE(curve.curves[1].fit);
  EXPECT_EQ(curve.curves[2].instrument, "probe");
  EXPECT_EQ(curve.curves[3].instrument, "hook");
  EXPECT_TRUE(std::isnan(curve.curves[3].values[0]));
  EXPECT_TRUE(learning_curve({}).curves.empty());
}

}  // namespace
}  // namespace trocar
