// Computes the change of metrics from attempt to attempt, and fits the power law of practice to each. Source: Newell,
// Rosenbloom, "Mechanisms of skill acquisition and the law of practice", in: Anderson (ed.), Cognitive Skills and their
// Acquisition, 1981: value = first * attempt^-rate. The fit is by least squares between the logarithms. Tested in
// tests/sim/learning_curve_test.cpp
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/score/attempt.hpp"

namespace trocar {

// value(n) = first * n^-rate, n = 1, 2, ...
struct PowerLaw {
  double first = 0.0;      // fitted value of attempt 1, in the metric's unit
  double rate = 0.0;       // 1   > 0: the metric falls with practice
  double explained = 0.0;  // 0..1  R^2 of the logarithms
  double at(double attempt) const;
};
// Fits the power law. Needs three values above zero; other values (zero, negative, NaN) are left out but keep their
// attempt number.
std::optional<PowerLaw> fit_power_law(std::span<const double> values);

struct MetricCurve {
  std::string instrument;  // empty: of the whole attempt
  std::string id, label, unit;
  std::vector<double> values;  // [attempt] NaN where the metric is missing
  std::optional<PowerLaw> fit;
};

struct LearningCurve {
  std::vector<std::size_t> order;   // [attempt] index of the given attempt: by date, else as given
  std::vector<std::string> files;   // [attempt]
  std::vector<MetricCurve> curves;  // "task_score" and the task's parts first, if any; then overall, instruments
};
LearningCurve learning_curve(std::span<const Attempt> attempts);

}  // namespace trocar
