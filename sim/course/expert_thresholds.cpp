#include "sim/course/expert_thresholds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "geometry/error.hpp"

namespace trocar {
namespace {

struct GradedMetric {
  const char *id, *unit;
  bool at_most, allowed;
};
constexpr GradedMetric kGradedMetrics[] = {{"score", "points", false, false},
                                           {"task_time", "s", true, false},
                                           {"task_peak_force", "N", true, true},
                                           {"task_tremor", "mm", true, true},
                                           {"task_errors", "", true, true}};

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double sd_of(std::span<const double> values, double mean) {
  if (values.size() < 2) return 0.0;
  double sum = 0.0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double median_of_sorted(std::span<const double> values) {
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

double value_of(const CourseAttempt& attempt, std::string_view metric) {
  if (metric == "score") return attempt.score;
  const auto found = attempt.metrics.find(metric);
  return found == attempt.metrics.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
}

// The tolerance covers the rounding of a mean: 2.5000000000000004 is 2.5.
double to_thousandth(double value, bool up) {
  constexpr double kStep = 1e-3, kTolerance = 1e-6;
  const double steps = value / kStep;
  return (up ? std::ceil(steps - kTolerance) : std::floor(steps + kTolerance)) / 1000.0 + 0.0;  // no negative zero
}

ExpertThreshold threshold_of(const GradedMetric& metric, std::span<const double> values, ExpertRule rule) {
  ExpertThreshold threshold{metric.id, metric.unit, metric.at_most, metric.allowed, expert_values(values), 0.0};
  const ExpertValues& kept = threshold.values;
  const double reached = rule == ExpertRule::Median ? kept.median : kept.mean;
  threshold.threshold = to_thousandth(metric.allowed ? kept.most : reached, metric.at_most);
  return threshold;
}

void require_one_task(std::span<const ExpertAttempt> attempts) {
  if (attempts.empty()) throw InputError("there is no attempt; thresholds need two or more attempts at one task");
  const CourseAttempt& first = attempts.front().attempt;
  for (const ExpertAttempt& other : attempts)
    if (other.attempt.scene != first.scene || other.attempt.level != first.level)
      throw InputError(
          fmt::format("{} is an attempt at {}, level {}, but {} at {}, level {}; name attempts at one task",
                      printable(attempts.front().source), printable(first.scene), first.level, printable(other.source),
                      printable(other.attempt.scene), other.attempt.level));
}

}  // namespace

ExpertValues expert_values(std::span<const double> values) {
  std::vector<double> kept;
  std::ranges::copy_if(values, std::back_inserter(kept), [](double value) { return std::isfinite(value); });
  ExpertValues result;
  if (kept.empty()) return result;
  const std::size_t all = kept.size();
  const double mean = mean_of(kept), reach = kTrimBeyond * sd_of(kept, mean);
  std::erase_if(kept, [&](double value) { return std::abs(value - mean) > reach; });
  std::ranges::sort(kept);
  // Values that differ by rounding alone can all lie beyond 2 SD of a mean that is rounded too.
  if (kept.empty()) kept.assign(all, mean);
  result.n = kept.size(), result.trimmed = all - kept.size();
  result.mean = mean_of(kept), result.sd = sd_of(kept, result.mean);
  result.median = median_of_sorted(kept);
  result.least = kept.front(), result.most = kept.back();
  return result;
}

const ExpertThreshold* ExpertThresholds::find(std::string_view metric) const {
  const auto found = std::ranges::find(thresholds, metric, &ExpertThreshold::metric);
  return found == thresholds.end() ? nullptr : &*found;
}

ExpertThresholds expert_thresholds(std::span<const ExpertAttempt> attempts, ExpertRule rule) {
  require_one_task(attempts);
  ExpertThresholds result;
  result.scene = attempts.front().attempt.scene, result.level = attempts.front().attempt.level, result.rule = rule;
  std::vector<const CourseAttempt*> counted;
  std::set<std::string> experts;
  for (const ExpertAttempt& expert : attempts) {
    if (!expert.attempt.finished || expert.attempt.critical_error || !std::isfinite(expert.attempt.score)) continue;
    counted.push_back(&expert.attempt);
    if (!expert.expert.empty()) experts.insert(expert.expert);
    if (expert.scripted) ++result.scripted;
  }
  result.attempts = counted.size(), result.left_out = attempts.size() - counted.size();
  result.experts = experts.size();
  if (counted.size() < 2)
    throw InputError(fmt::format("{} of {} attempts {} finished without a critical error; thresholds need two or more",
                                 counted.size(), attempts.size(), counted.size() == 1 ? "is" : "are"));
  for (const GradedMetric& metric : kGradedMetrics) {
    std::vector<double> values;
    for (const CourseAttempt* attempt : counted) values.push_back(value_of(*attempt, metric.id));
    const ExpertThreshold threshold = threshold_of(metric, values, rule);
    if (threshold.values.n > 0) result.thresholds.push_back(threshold);
  }
  return result;
}

}  // namespace trocar
