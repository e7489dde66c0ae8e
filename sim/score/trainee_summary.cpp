#include "sim/score/trainee_summary.hpp"
#include "geometry/translate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trocar {
namespace {

const Metric* metric_of(const std::vector<Metric>& list, std::string_view id) {
  const auto found = std::ranges::find(list, id, &Metric::id);
  return found == list.end() ? nullptr : &*found;
}

// Returns the sum over the instruments that have the metric, with this label; nothing when none has it.
std::optional<Metric> summed_metric(const Attempt& attempt, std::string_view id, const char* label) {
  std::optional<Metric> sum;
  for (const InstrumentScore& instrument : attempt.instruments) {
    const Metric* one = metric_of(instrument.metrics, id);
    if (!one) continue;
    if (sum)
      sum->value += one->value;
    else
      sum = *one;
  }
  if (sum) sum->label = label;
  return sum;
}

double most_counted(const TaskResult& task) {
  return task.critical.empty() ? task.progress : std::min(task.progress, kMostAfterCritical / 100.0);
}

}  // namespace

std::string score_text(double score) {
  const double tenths = std::floor(score * 10.0);
  return std::fmod(tenths, 10.0) == 0.0 ? fmt::format("{:.0f}", tenths / 10.0) : fmt::format("{:.1f}", tenths / 10.0);
}

std::optional<double> counted_grade(const TaskResult& task, const Metric& part) {
  const auto grade = mark_of(part);
  if (!grade) return {};
  const double counts = *grade * task.progress;
  return task.critical.empty() ? counts : std::min(counts, kMostAfterCritical / 100.0);
}

std::string counted_text(const TaskResult& task) {
  if (!task.critical.empty())
    return trf("After a critical error no part counts more than {:.0f} %.", std::floor(100.0 * most_counted(task)));
  if (task.progress >= 1.0) return {};
  const double share = std::floor(100.0 * task.progress);
  return trf("{0:.0f} % of the task was done, so no part counts more than {0:.0f} %.", share);
}

std::vector<std::size_t> costly_parts(const TaskResult& task) {
  std::vector<std::size_t> costly;
  for (std::size_t k = 0; k < task.parts.size(); ++k)
    if (mark_of(task.parts[k]).value_or(1.0) < 1.0) costly.push_back(k);
  std::ranges::stable_sort(costly, {}, [&](std::size_t k) { return *mark_of(task.parts[k]); });
  costly.resize(std::min(costly.size(), kCostlyParts));
  return costly;
}

std::vector<Metric> trainee_metrics(const Attempt& attempt) {
  std::vector<Metric> list;
  const auto add = [&](std::optional<Metric> metric) {
    if (metric) list.push_back(*std::move(metric));
  };
  const auto of_whole = [&](std::string_view id, const char* label) {
    const Metric* found = metric_of(attempt.overall, id);
    if (found) list.push_back(*found), list.back().label = label;
  };
  of_whole("duration", "Time");
  const bool several = attempt.instruments.size() > 1;
  add(summed_metric(attempt, "movements",
                    several ? msgid("Number of movements, all instruments") : msgid("Number of movements")));
  add(summed_metric(attempt, "path_length", several ? msgid("Path of the tips") : msgid("Path of the tip")));
  auto hidden =
      summed_metric(attempt, "out_of_view_time", several ? msgid("Tips out of view") : msgid("Tip out of view"));
  if (hidden && attempt.instruments.size() > 1) hidden->poor = 0.1 * attempt.duration;
  add(hidden);
  of_whole("peak_force", "Largest force");
  of_whole("task_errors", "Number of errors");
  return list;
}

std::string reference_text(const Metric& metric) {
  if (!metric.good || !metric.poor) return {};
  const bool small_is_good = *metric.good <= *metric.poor;
  const std::string good = value_with_unit(*metric.good, metric.unit),
                    poor = value_with_unit(*metric.poor, metric.unit);
  return small_is_good ? trf("good up to {}, poor from {}", good, poor)
                       : trf("good from {}, poor up to {}", good, poor);
}

std::string no_judgement_text(const Attempt& attempt) {
  if (attempt.task) return {};
  return tr(
      "There is no task, so there is no judgement: the measures describe the motion, and have no reference of "
      "experts.");
}

std::string counted(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

}  // namespace trocar
