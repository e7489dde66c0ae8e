// Tests the measurement of tremor: the filter against the closed form of its gain, and the choice of frames.
#include "sim/task/watches.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sim/task/performer.hpp"
#include "tests/sim/task_support.hpp"

namespace trocar {
namespace {

constexpr double kTurn = 2.0 * std::numbers::pi;

// Amplitude of the filter's answer to a sine wave of 1 m, after it has settled.
double gain(double frequency, double dt) {
  TremorFilter filter;
  filter.begin({});
  double most = 0.0;
  for (int k = 0; k * dt < 20.0; ++k) {
    const double value = filter.step({std::sin(kTurn * frequency * k * dt), 0.0, 0.0}, dt).x;
    if (k * dt > 10.0) most = std::max(most, std::abs(value));
  }
  return most;
}

// |H|^2 = 1 / (1 + (tan(pi f0 dt) / tan(pi f dt))^8) for the bilinear transform of the analogue filter.
TEST(TremorFilter, HasTheGainOfAFourthOrderButterworthFilter) {
  for (const double dt : {1.0 / 60.0, 1.0 / 240.0})
    for (const double frequency : {0.7, 2.3, 4.0, 5.0, 6.3, 9.1, 13.7}) {
      const double ratio = std::tan(0.5 * kTurn * TremorFilter::kLowest * dt) / std::tan(0.5 * kTurn * frequency * dt);
      const double expected = 1.0 / std::sqrt(1.0 + std::pow(ratio, 8.0));
      EXPECT_NEAR(gain(frequency, dt), expected, 0.004) << frequency << " Hz, step " << dt;
    }
}

TEST(TremorFilter, TheStartPositionDoesNotMatter) {
  TremorFilter near, far;
  near.begin({}), far.begin({3.0, -2.0, 1.0});
  for (int k = 0; k < 200; ++k) {
    const glm::dvec3 at(0.001 * std::sin(0.7 * k), 0.002 * k, 0.0);
    EXPECT_LT(glm::distance(near.step(at, 0.01), far.step(at + glm::dvec3(3.0, -2.0, 1.0), 0.01)), 1e-12);
  }
}

class Tremor : public ::testing::Test {
 protected:
  Tremor() {
    task_.kind = TaskKind::TouchTargets;
    task_.locations = {{"sheet", {0.f, 0.f, 0.f}}};
    task_.most_tremor = 0.0002;
  }
  // Moves the tip along `path` for `duration`, in frames of the support's step.
  template <typename Path>
  double measured(double duration, const Path& path) {
    TremorWatch watch(task_, frames_.stage());
    const TaskRun marks(task_, frames_.stage());
    for (double time = 0.0; time < duration; time += frames_.kDt) {
      frames_.tool.pose.tip = path(time);
      watch.step(frames_.kept(marks), time > 0.0 ? frames_.kDt : 0.0);
    }
    return watch.rms();
  }
  TaskScene task_;
  test::HandMadeFrames frames_;
};

TEST_F(Tremor, IsTheRootMeanSquareOfASineWave) {
  const double rms = measured(6.0, [](double t) { return glm::dvec3(0.0004 * std::sin(kTurn * 9.0 * t), 0.0, 0.05); });
  EXPECT_NEAR(rms, 0.0004 / std::sqrt(2.0), 0.00001);
}

TEST_F(Tremor, ATraceAtSteadySpeedHasNone) {
  EXPECT_LT(measured(4.0, [](double t) { return glm::dvec3(0.02 * t, 0.0, 0.05); }), 2e-6);
}

TEST_F(Tremor, FastMovementIsLeftOut) {
  // Back and forth by 60 mm in half a second, with a rest of a second in between.
  const auto path = [](double t) {
    const double turn = std::fmod(t, 3.0);
    const double there = minimum_jerk(turn / 0.5) - minimum_jerk((turn - 1.5) / 0.5);
    return glm::dvec3(0.06 * there, 0.0, 0.05);
  };
  EXPECT_LT(measured(12.0, path), 0.00006);
}

TEST_F(Tremor, HasNoValueWithoutSlowMovementOrInLongSteps) {
  EXPECT_TRUE(std::isnan(measured(0.9, [](double) { return glm::dvec3(0.0, 0.0, 0.05); }))) << "too short";
  EXPECT_TRUE(std::isnan(measured(5.0, [](double t) { return glm::dvec3(0.1 * t, 0.0, 0.05); }))) << "fast";
  TremorWatch watch(task_, frames_.stage());
  const TaskRun marks(task_, frames_.stage());
  for (int k = 0; k < 200; ++k) watch.step(frames_.kept(marks), 0.06);
  EXPECT_TRUE(std::isnan(watch.rms())) << "16 frames a second";
}

TEST_F(Tremor, IsGradedOnlyWithALimit) {
  TaskRun graded(task_, frames_.stage());
  frames_.show(graded, 300);
  EXPECT_NEAR(test::part_of(graded.result(), "task_tremor"), 0.0, 1e-9);
  task_.most_tremor = 0.0;
  TaskRun plain(task_, frames_.stage());
  frames_.show(plain, 300);
  for (const Metric& part : plain.result().parts) EXPECT_NE(part.id, "task_tremor");
}

}  // namespace
}  // namespace trocar
