#include "app/lab/lab_course.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/lab/lab_date.hpp"
#include "app/lab/text_table.hpp"

namespace trocar {
namespace {

// "task.task_time" -> "task_time", "whole.peak_force" -> "peak_force", "probe.peak_force" stays.
std::string course_id(const std::string& id) {
  for (const char* prefix : {"task.", "whole."})
    if (id.starts_with(prefix)) return id.substr(std::string_view(prefix).size());
  return id;
}

const char* state_text(StepState state) {
  switch (state) {
    case StepState::Locked:
      return "locked";
    case StepState::Open:
      return "open";
    case StepState::Passed:
      return "passed";
    case StepState::RefresherDue:
      return "refresher due";
  }
  return "";
}

std::string passes_text(const CourseStep& step, const StepProgress& progress) {
  std::string text = fmt::format("{} of {} in a row", progress.in_a_row, step.in_a_row);
  if (step.in_all > step.in_a_row) text += fmt::format(", {} of {}", progress.in_all, step.in_all);
  return text;
}

}  // namespace

CourseAttempt course_attempt(const LabAttempt& attempt) {
  CourseAttempt course;
  course.scene = attempt.scene, course.level = attempt.level, course.date = attempt.started;
  course.score = attempt.score.value_or(std::numeric_limits<double>::quiet_NaN());
  course.finished = attempt.ending == "done";
  course.critical_error = attempt.critical;
  course.metrics.emplace("duration", attempt.seconds);
  for (const auto& [id, value] : attempt.metrics) course.metrics.emplace(course_id(id), value);
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
    table.add({view.curriculum.steps[k].title, state_text(progress.state),
               passes_text(view.curriculum.steps[k], progress), std::to_string(progress.attempts),
               progress.best ? fmt::format("{:.0f}", *progress.best) : "-",
               progress.passed_on ? text_of_date(*progress.passed_on) : "-"});
  }
  std::string text = view.curriculum.title + "\n" + table.text();
  if (!view.next) return text + "all steps are passed\n";
  text += fmt::format("\nnext: {}\n", view.curriculum.steps[*view.next].title);
  for (const std::string& sentence : view.latest_missed) text += "  " + sentence + "\n";
  return text;
}

}  // namespace trocar
