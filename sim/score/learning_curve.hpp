// Computes the change of metrics from attempt to attempt, and fits the power law of practice with a limit to each:
// value(n) = limit + gain n^-rate. Least squares between the values themselves, so zeros and negative values count as
// any other. A metric whose values are never negative gets no negative limit. Source: Newell, Rosenbloom, "Mechanisms
// of skill acquisition and the law of practice", in: Anderson (ed.), Cognitive Skills and their Acquisition, 1981.
// Tested in tests/sim/task/course_progress_test.cpp
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/score/attempt.hpp"

namespace trocar {

// value(n) = limit + gain * n^-rate, n = 1, 2, ...
struct PracticeCurve {
  double limit = 0.0;      // approached after many attempts, in the metric's unit
  double gain = 0.0;       // value of attempt 1 minus the limit
  double rate = 1.0;       // 1   > 0
  double explained = 0.0;  // 0..1  R^2
  double at(double attempt) const;
};
// Fits the curve to the finite values; NaN keep their attempt number. Needs three; with fewer than five the rate is 1,
// because three parameters would fit them whatever they are.
std::optional<PracticeCurve> fit_practice(std::span<const double> values);

struct MetricCurve {
  std::string instrument;  // empty: of the whole attempt
  std::string id, label, unit;
  std::vector<double> values;  // [attempt] NaN where the metric is missing
  std::optional<PracticeCurve> fit;
};

struct LearningCurve {
  std::vector<std::size_t> order;   // [attempt] index of the given attempt: by date, else as given
  std::vector<std::string> files;   // [attempt]
  std::vector<MetricCurve> curves;  // "task_score" and the task's parts first, if any; then overall, instruments
};
LearningCurve learning_curve(std::span<const Attempt> attempts);

}  // namespace trocar
