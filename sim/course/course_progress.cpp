#include "sim/course/course_progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "geometry/error.hpp"
#include "geometry/translate.hpp"
#include "sim/score/lost_time.hpp"

namespace trocar {
namespace {

constexpr double kDay = 86400.0;  // s

bool is_passed(const StepProgress& progress) { return progress.passed_on.has_value(); }

// An attempt at a step, reduced to what its progress depends on.
struct DatedPass {
  double date;  // s
  bool pass;
  // Of attempts with the same date, those that are not passes come first, so that the order in the list has no effect.
  bool operator<(const DatedPass& other) const { return date != other.date ? date < other.date : pass < other.pass; }
};

std::vector<DatedPass> attempts_at(const CourseStep& step, std::span<const CourseAttempt> attempts,
                                   StepProgress& progress) {
  std::vector<DatedPass> dated;
  const std::string key = scene_key(step.scene);
  for (const CourseAttempt& attempt : attempts) {
    if (attempt.scene != key || attempt.level != step.level || !std::isfinite(attempt.date)) continue;
    if (is_practice(attempt)) continue;
    dated.push_back({attempt.date, missed_criteria(step, attempt).empty()});
    if (std::isfinite(attempt.score)) progress.best = std::max(progress.best.value_or(attempt.score), attempt.score);
  }
  std::sort(dated.begin(), dated.end());
  return dated;
}

StepProgress progress_of(const CourseStep& step, std::span<const CourseAttempt> attempts) {
  StepProgress progress;
  int longest = 0;
  double last_pass = 0.0;
  for (const DatedPass& attempt : attempts_at(step, attempts, progress)) {
    ++progress.attempts;
    progress.in_a_row = attempt.pass ? progress.in_a_row + 1 : 0;
    if (!attempt.pass) continue;
    ++progress.in_all;
    longest = std::max(longest, progress.in_a_row);
    last_pass = attempt.date;
    if (!progress.passed_on && longest >= step.in_a_row && progress.in_all >= step.in_all)
      progress.passed_on = attempt.date;
  }
  if (progress.passed_on && step.refresher_days > 0.0) progress.due_on = last_pass + step.refresher_days * kDay;
  return progress;
}

// Returns the value in few digits, or in all of them where few would read like the limit.
std::string apart(double value, double limit) {
  const std::string few = fmt::format("{:.4g}", value);
  return few == fmt::format("{:.4g}", limit) ? fmt::format("{}", value) : few;
}

void add_metrics(CourseAttempt& attempt, const std::string& prefix, const std::vector<Metric>& metrics) {
  for (const Metric& metric : metrics) attempt.metrics.insert_or_assign(prefix + metric.id, metric.value);
}

}  // namespace

CourseAttempt course_attempt(const Attempt& scored, std::string scene, int level, double date) {
  CourseAttempt attempt;
  attempt.scene = std::move(scene), attempt.level = level, attempt.date = date;
  attempt.score = std::numeric_limits<double>::quiet_NaN();
  attempt.metrics.emplace("duration", scored.duration);
  add_metrics(attempt, "", scored.overall);
  for (const InstrumentScore& instrument : scored.instruments)
    add_metrics(attempt, instrument.name + ".", instrument.metrics);
  if (!scored.task) return attempt;
  add_metrics(attempt, "", scored.task->parts);
  attempt.score = scored.task->score;
  attempt.finished = scored.task->finished;
  attempt.critical_error = std::ranges::any_of(scored.task->events, &TaskEvent::critical);
  return attempt;
}

namespace {

std::string capitalised(std::string words) {
  if (!words.empty()) words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
  return words;
}

}  // namespace

std::string metric_words(const std::string& id) {
  const std::size_t dot = id.rfind('.');
  std::string words = dot == std::string::npos ? id : id.substr(dot + 1);
  if (words.starts_with("task_")) words.erase(0, std::string_view("task_").size());
  std::replace(words.begin(), words.end(), '_', ' ');
  words = tr(words);
  return dot == std::string::npos ? words : trf("{} of the {}", words, tr(id.substr(0, dot)));
}

bool is_practice(const CourseAttempt& attempt) {
  const auto much = [&](std::string_view id) {
    const auto found = attempt.metrics.find(id);
    return found != attempt.metrics.end() && found->second > 100.0 * LostTime::kMost;
  };
  return much("lost_share") || much("worst_lost_share");
}

std::vector<std::string> missed_criteria(const CourseStep& step, const CourseAttempt& attempt) {
  std::vector<std::string> missed;
  if (is_practice(attempt))
    missed.emplace_back(tr("The machine was too slow: the attempt is practice and does not count."));
  if (!attempt.finished) missed.emplace_back(tr("The task was not finished."));
  if (attempt.critical_error && step.pass.no_critical_error) missed.emplace_back(tr("A critical error occurred."));
  if (std::isnan(attempt.score))
    missed.emplace_back(tr("The attempt has no score."));
  else if (attempt.score < step.pass.least_score)
    missed.push_back(trf("The score is {}; at least {:.4g} is required.", apart(attempt.score, step.pass.least_score),
                         step.pass.least_score));
  for (const MetricLimit& limit : step.pass.limits) {
    const std::string what = capitalised(metric_words(limit.metric));
    const auto found = attempt.metrics.find(limit.metric);
    if (found == attempt.metrics.end() || std::isnan(found->second))
      missed.push_back(limit.at_most ? trf("{}: undefined; at most {:.4g} is required.", what, limit.value)
                                     : trf("{}: undefined; at least {:.4g} is required.", what, limit.value));
    else if (limit.at_most ? found->second > limit.value : found->second < limit.value)
      missed.push_back(
          limit.at_most
              ? trf("{}: {}; at most {:.4g} is required.", what, apart(found->second, limit.value), limit.value)
              : trf("{}: {}; at least {:.4g} is required.", what, apart(found->second, limit.value), limit.value));
  }
  return missed;
}

std::vector<StepProgress> course_progress(const Curriculum& curriculum, std::span<const CourseAttempt> attempts,
                                          double now) {
  std::vector<StepProgress> all;
  all.reserve(curriculum.steps.size());
  for (const CourseStep& step : curriculum.steps) {
    StepProgress progress = progress_of(step, attempts);
    const bool open = std::ranges::all_of(step.after, [&](std::size_t earlier) {
      return all[earlier].state == StepState::Passed || all[earlier].state == StepState::RefresherDue;
    });
    if (!open)
      progress.state = StepState::Locked;
    else if (is_passed(progress))
      progress.state = progress.due_on && now >= *progress.due_on ? StepState::RefresherDue : StepState::Passed;
    all.push_back(progress);
  }
  return all;
}

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
    if (!expert.attempt.finished || expert.attempt.critical_error || is_practice(expert.attempt) ||
        !std::isfinite(expert.attempt.score))
      continue;
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
