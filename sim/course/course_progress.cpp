#include "sim/course/course_progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace trocar {
namespace {

constexpr double kDay = 86400.0;  // s
// A task's log begins the text of a critical error with this word (TaskLog::critical).
constexpr std::string_view kCriticalWord = "critical: ";

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
  attempt.critical_error = std::ranges::any_of(
      scored.task->events, [](const TaskEvent& event) { return event.error && event.text.starts_with(kCriticalWord); });
  return attempt;
}

std::vector<std::string> missed_criteria(const CourseStep& step, const CourseAttempt& attempt) {
  std::vector<std::string> missed;
  if (!attempt.finished) missed.emplace_back("The task was not finished.");
  if (attempt.critical_error && step.pass.no_critical_error) missed.emplace_back("A critical error occurred.");
  if (std::isnan(attempt.score))
    missed.emplace_back("The attempt has no score.");
  else if (attempt.score < step.pass.least_score)
    missed.push_back(fmt::format("The score is {}; at least {:.4g} is required.",
                                 apart(attempt.score, step.pass.least_score), step.pass.least_score));
  for (const MetricLimit& limit : step.pass.limits) {
    const char* word = limit.at_most ? "at most" : "at least";
    const auto found = attempt.metrics.find(limit.metric);
    if (found == attempt.metrics.end() || std::isnan(found->second))
      missed.push_back(fmt::format("{} is undefined; {} {:.4g} is required.", limit.metric, word, limit.value));
    else if (limit.at_most ? found->second > limit.value : found->second < limit.value)
      missed.push_back(fmt::format("{} is {}; {} {:.4g} is required.", limit.metric, apart(found->second, limit.value),
                                   word, limit.value));
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

}  // namespace trocar
