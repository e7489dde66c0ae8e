#include "app/lab/lab_course.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <limits>

#include "app/lab/lab_tables.hpp"
#include "geometry/error.hpp"
#include "geometry/translate.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/review/score_recording.hpp"
#include "sim/score/trainee_summary.hpp"

namespace trocar {
namespace {

bool is_at(const CourseStep& step, const LabAttempt& attempt) {
  return attempt.scene == scene_key(step.scene) && attempt.level == step.level;
}

bool is_passed_step(const StepProgress& progress) {
  return progress.state == StepState::Passed || progress.state == StepState::RefresherDue;
}

// The first step of this scene and level that is not passed, else the last one.
std::optional<std::size_t> step_of(const CourseView& view, const LabAttempt& attempt) {
  std::optional<std::size_t> found;
  for (std::size_t k = 0; k < view.progress.size(); ++k) {
    if (!is_at(view.curriculum.steps[k], attempt)) continue;
    found = k;
    if (view.progress[k].state != StepState::Passed) break;
  }
  return found;
}

}  // namespace

std::string course_metric(const std::string& metric) {
  for (const char* prefix : {"task.", "whole."})
    if (metric.starts_with(prefix)) return metric.substr(std::string_view(prefix).size());
  return metric;
}

std::string metric_title(const std::string& metric) { return metric_words(course_metric(metric)); }

const char* state_name(StepState state) {
  switch (state) {
    case StepState::Locked:
      return msgid("locked");
    case StepState::Open:
      return msgid("open");
    case StepState::Passed:
      return msgid("passed");
    case StepState::RefresherDue:
      return msgid("refresher due");
  }
  return "";
}

std::string step_title(const CourseStep& step) { return trf("{}, level {}", tr(step.title), step.level); }

std::string passes_text(const CourseStep& step, const StepProgress& progress) {
  std::string text = trf("{} of {} in a row", progress.in_a_row, step.in_a_row);
  if (step.in_all > step.in_a_row) text += ", " + trf("{} of {}", progress.in_all, step.in_all);
  return text;
}

std::string criteria_text(const CourseStep& step) {
  std::vector<std::string> criteria;
  if (step.pass.least_score > 0.0) criteria.push_back(trf("at least {:.4g} points", step.pass.least_score));
  for (const MetricLimit& limit : step.pass.limits) {
    const std::string words = metric_words(limit.metric);
    criteria.push_back(!limit.at_most       ? trf("{} at least {:.4g}", words, limit.value)
                       : limit.value == 0.0 ? trf("no {}", words)
                                            : trf("{} at most {:.4g}", words, limit.value));
  }
  if (step.pass.no_critical_error) criteria.emplace_back(tr("no critical error"));
  return criteria.empty() ? tr("finished") : fmt::format("{}", fmt::join(criteria, ", "));
}

std::string needs_text(const CourseView& view, std::size_t step) {
  std::vector<std::string> titles;
  for (const std::size_t earlier : view.curriculum.steps[step].after)
    if (!is_passed_step(view.progress[earlier])) titles.push_back(step_title(view.curriculum.steps[earlier]));
  return fmt::format("{}", fmt::join(titles, "; "));
}

std::size_t steps_passed(const CourseView& view) {
  return static_cast<std::size_t>(std::ranges::count_if(view.progress, is_passed_step));
}

std::optional<StepOutcome> step_outcome(const Curriculum& curriculum, const std::vector<LabAttempt>& attempts,
                                        const LabAttempt& attempt, double now) {
  std::vector<LabAttempt> all;
  std::ranges::copy_if(attempts, std::back_inserter(all), [&](const LabAttempt& a) { return a.key != attempt.key; });
  const CourseView before = course_view(curriculum, all, now);
  const auto step = step_of(before, attempt);
  if (!step) return std::nullopt;
  all.push_back(attempt);
  CourseView after = course_view(curriculum, all, now);
  StepOutcome outcome;
  outcome.step = *step;
  outcome.missed = missed_criteria(curriculum.steps[*step], course_attempt(attempt));
  outcome.completed = !before.progress[*step].passed_on && after.progress[*step].passed_on;
  outcome.refreshed =
      before.progress[*step].state == StepState::RefresherDue && after.progress[*step].state == StepState::Passed;
  for (std::size_t k = 0; k < after.progress.size(); ++k)
    if (before.progress[k].state == StepState::Locked && after.progress[k].state != StepState::Locked)
      outcome.unlocked.push_back(k);
  outcome.after = std::move(after);
  return outcome;
}

CourseAttempt course_attempt(const LabAttempt& attempt) {
  CourseAttempt course;
  course.scene = attempt.scene, course.level = attempt.level, course.date = attempt.started;
  course.score = attempt.score.value_or(std::numeric_limits<double>::quiet_NaN());
  course.finished = attempt.ending == "done";
  course.critical_error = attempt.critical;
  course.metrics.emplace("duration", attempt.seconds);
  for (const auto& [id, value] : attempt.metrics) course.metrics.emplace(course_metric(id), value);
  return course;
}

CourseView course_view(Curriculum curriculum, const std::vector<LabAttempt>& attempts, double now) {
  CourseView view{std::move(curriculum), {}, {}, {}};
  std::vector<CourseAttempt> course;
  for (const LabAttempt& attempt : attempts) course.push_back(course_attempt(attempt));
  view.progress = course_progress(view.curriculum, course, now);
  for (std::size_t k = 0; k < view.progress.size() && !view.next; ++k)
    if (view.progress[k].state == StepState::Open || view.progress[k].state == StepState::RefresherDue) view.next = k;
  if (!view.next) return view;
  const CourseStep& step = view.curriculum.steps[*view.next];
  const CourseAttempt* latest = nullptr;
  for (const CourseAttempt& attempt : course)
    if (attempt.scene == scene_key(step.scene) && attempt.level == step.level &&
        (!latest || attempt.date > latest->date))
      latest = &attempt;
  if (latest) view.latest_missed = missed_criteria(step, *latest);
  return view;
}

std::string course_table(const CourseView& view) {
  TextTable table({"step", "state", "passes", "attempts", "best", "passed on (UTC)"});
  for (std::size_t k = 0; k < view.progress.size(); ++k) {
    const StepProgress& progress = view.progress[k];
    table.add({view.curriculum.steps[k].title, state_name(progress.state),
               passes_text(view.curriculum.steps[k], progress), std::to_string(progress.attempts),
               progress.best ? score_text(*progress.best) : "-",
               progress.passed_on ? text_of_date(*progress.passed_on) : "-"});
  }
  std::string text = view.curriculum.title + "\n" + table.text();
  if (!view.next) return text + "all steps are passed\n";
  text += fmt::format("\nnext: {}\n", view.curriculum.steps[*view.next].title);
  for (const std::string& sentence : view.latest_missed) text += "  " + sentence + "\n";
  return text;
}

namespace {

std::string number_text(double value) { return fmt::format("{:.4g}", value); }

std::string as_comment(const std::string& text) {
  std::string comment;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    comment += "# " + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return comment;
}

std::string values_table(const ExpertThresholds& found) {
  TextTable table({"metric", "unit", "n", "left out", "mean", "SD", "median", "least", "most", "threshold"});
  for (const ExpertThreshold& line : found.thresholds) {
    const ExpertValues& values = line.values;
    table.add({line.metric, line.unit, std::to_string(values.n), std::to_string(values.trimmed),
               number_text(values.mean), number_text(values.sd), number_text(values.median), number_text(values.least),
               number_text(values.most), fmt::format("{} {}", line.at_most ? "at most" : "at least", line.threshold)});
  }
  return table.text();
}

std::string heading(const ExpertThresholds& found) {
  std::string text = fmt::format("{}, level {}: {} attempts", printable(found.scene), found.level, found.attempts);
  if (found.experts > 0) text += fmt::format(" of {} {}", found.experts, found.experts == 1 ? "person" : "people");
  if (found.left_out > 0) text += fmt::format("; {} not finished, or with a critical error, left out", found.left_out);
  text += "\n";
  if (found.scripted > 0)
    text += fmt::format("{} of these attempts are by a scripted trainee: not thresholds for people.\n", found.scripted);
  text += fmt::format(
      "Values farther than {} SD from the mean are left out. Score and time: {} of the others. Force, tremor and "
      "errors: the\nlargest of the others. Sources: docs/curriculum.md\n",
      kTrimBeyond, found.rule == ExpertRule::Median ? "the median" : "the mean");
  return text;
}

std::string step_toml(const ExpertThresholds& found) {
  std::string text = "# A step of a curriculum. The scene's path is relative to the curriculum.\n[[step]]\n";
  const std::string scene = printable(found.scene);
  text += fmt::format("name = \"{} {}\"\nscene = \"{}.toml\"\nlevel = {}\n", scene, found.level, scene, found.level);
  if (const ExpertThreshold* score = found.find("score")) text += fmt::format("least_score = {}\n", score->threshold);
  text += "in_a_row = 2\n";
  for (const ExpertThreshold& line : found.thresholds)
    if (line.at_most)
      text += fmt::format("[[step.at_most]]\nmetric = \"{}\"\nvalue = {}\n", line.metric, line.threshold);
  return text;
}

std::string task_toml(const ExpertThresholds& found) {
  struct TaskKey {
    const char *metric, *key;
    double least;  // that the key accepts
  };
  constexpr TaskKey kKeys[] = {{"task_time", "time_good_s", 0.1},
                               {"task_peak_force", "most_force_n", 0.01},
                               {"task_tremor", "most_tremor_mm", 0.001}};
  std::string keys;
  for (const TaskKey& key : kKeys)
    if (const ExpertThreshold* line = found.find(key.metric); line && line->threshold >= key.least)
      keys += fmt::format("{} = {}\n", key.key, line->threshold);
  const char* table = found.level == 1 ? "[task]" : "[[task.level]]";
  return fmt::format(
      "# Keys of the scene{}. time_limit_s must be larger than time_good_s.\n# They change the scores: score the "
      "attempts again before you use their scores in a curriculum.\n{}\n{}",
      found.level == 1 ? "" : fmt::format(", for its level {}", found.level), table, keys);
}

}  // namespace

ExpertAttempt expert_attempt_of(const std::filesystem::path& recording) {
  const Recording opened(recording);
  const Attempt scored = score_recording(opened, recording.string());
  if (!scored.task)
    throw InputError(fmt::format("{}: has no task, so it gives no thresholds", printable(recording.string(), 200)));
  const auto activity = opened.activity();
  ExpertAttempt expert;
  expert.attempt = course_attempt(scored, opened.text("scene_name"), scored.level, date_of_text(scored.date));
  expert.expert = scored.person, expert.source = recording.string();
  expert.scripted = activity == Activity::Demonstration || activity == Activity::Script;
  return expert;
}

ExpertAttempt expert_attempt_of(const LabAttempt& attempt) {
  return {course_attempt(attempt), attempt.person, attempt.key, false};
}

std::string thresholds_toml(const ExpertThresholds& thresholds) {
  return as_comment(heading(thresholds) + values_table(thresholds)) + "\n" + step_toml(thresholds) + "\n" +
         task_toml(thresholds);
}

}  // namespace trocar
