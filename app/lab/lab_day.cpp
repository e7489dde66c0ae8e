#include "app/lab/lab_day.hpp"

#include <utility>

namespace trocar {
namespace {

struct Tries {
  int without_pass = 0;                 // attempts since the last pass
  std::optional<CourseAttempt> latest;  // of these
};

// `attempts`: newest first.
Tries tries_at(const CourseStep& step, std::span<const LabAttempt> attempts) {
  Tries tries;
  for (const LabAttempt& attempt : attempts) {
    if (attempt.scene != scene_key(step.scene) || attempt.level != step.level) continue;
    CourseAttempt course = course_attempt(attempt);
    if (is_practice(course)) continue;
    if (missed_criteria(step, course).empty()) break;
    if (++tries.without_pass == 1) tries.latest = std::move(course);
  }
  return tries;
}

}  // namespace

DayRow day_row(const Person& person, std::span<const LabAttempt> attempts, const Curriculum& curriculum, double now) {
  DayRow row;
  row.person = person, row.latest = attempts.front();
  for (const LabAttempt& attempt : attempts) {
    if (attempt.started < now - kWeek) continue;
    ++row.in_a_week;
    if (attempt.started >= now - kDay) ++row.in_a_day;
    row.seconds_in_a_week += attempt.seconds;
    if (is_practice(course_attempt(attempt))) ++row.slow;
  }
  const CourseView view = course_view(curriculum, {attempts.begin(), attempts.end()}, now);
  row.steps = steps_passed(view);
  row.step = view.next;
  for (std::size_t step = 0; step < curriculum.steps.size(); ++step) {
    if (view.progress[step].passed_on && step != view.next) continue;
    const Tries tries = tries_at(curriculum.steps[step], attempts);
    const bool shown =
        tries.without_pass >= kStuckAfter ? tries.without_pass > row.without_pass : step == view.next && !row.stuck();
    if (!shown) continue;
    row.step = step, row.without_pass = tries.without_pass;
    row.missed = tries.latest ? missed_criteria(curriculum.steps[step], *tries.latest) : std::vector<std::string>{};
  }
  return row;
}

DayRows day_rows(LabDatabase& lab, const Curriculum& curriculum, double now, std::size_t most) {
  DayRows day;
  for (const PersonSummary& one : lab.people({"", PersonOrder::LastAttempt, most + 1})) {
    if (one.last_started < now - kWeek) break;
    if (day.rows.size() == most) {
      day.more = true;
      break;
    }
    const std::vector<LabAttempt> attempts = lab.attempts({.person = one.person.id, .most = kAllRows});
    if (!attempts.empty()) day.rows.push_back(day_row(one.person, attempts, curriculum, now));
  }
  return day;
}

}  // namespace trocar
