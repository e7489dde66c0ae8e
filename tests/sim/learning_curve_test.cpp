// Tests that the fit recovers the power law of practice from data that follow it, and that attempts are ordered.
#include "sim/score/learning_curve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace trocar {
namespace {

TEST(LearningCurve, RecoversThePowerLaw) {
  std::vector<double> values;
  for (int n = 1; n <= 12; ++n) values.push_back(90.0 * std::pow(n, -0.35));
  values[4] = std::numeric_limits<double>::quiet_NaN();
  values[7] = 0.0;
  const auto fit = fit_power_law(values);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->first, 90.0, 1e-9);
  EXPECT_NEAR(fit->rate, 0.35, 1e-12);
  EXPECT_NEAR(fit->explained, 1.0, 1e-9);
  EXPECT_NEAR(fit->at(8.0), 90.0 * std::pow(8.0, -0.35), 1e-9);
}

// The values 1, 2, 4 at 1, 2, 4 have slope 1 in logarithms; 8, 2, 8 have slope 0 and R^2 = 0.
TEST(LearningCurve, ByHand) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NEAR(fit_power_law(std::vector{1.0, 2.0, nan, 4.0})->rate, -1.0, 1e-12);
  EXPECT_NEAR(fit_power_law(std::vector{8.0, 2.0, nan, 8.0})->rate, 0.0, 1e-12);
  EXPECT_NEAR(fit_power_law(std::vector{8.0, 2.0, nan, 8.0})->explained, 0.0, 1e-12);
  EXPECT_NEAR(fit_power_law(std::vector{3.0, 3.0, 3.0})->explained, 1.0, 1e-12);
  EXPECT_FALSE(fit_power_law(std::vector{3.0, 2.0, 0.0, -1.0}));
  EXPECT_FALSE(fit_power_law({}));
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
