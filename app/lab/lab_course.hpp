// A person's progress in a curriculum, from the attempts in the database, and the thresholds that follow from the
// attempts of experts. Rules: docs/curriculum.md   Tested in tests/app/lab_attempt_test.cpp
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/lab/lab_attempt.hpp"
#include "sim/course/course_progress.hpp"

namespace trocar {

// Returns the id by which a curriculum names a metric of LabAttempt: "task.task_time" is "task_time".
std::string course_metric(const std::string& metric);
// Names a metric of LabAttempt in words: "task time", "path length of the probe".
std::string metric_title(const std::string& metric);

// Equals course_attempt() of the recording's score.
CourseAttempt course_attempt(const LabAttempt& attempt);

struct CourseView {
  Curriculum curriculum;
  std::vector<StepProgress> progress;      // [step]
  std::optional<std::size_t> next;         // the first step that is open, or due for a refresher; empty: all are passed
  std::vector<std::string> latest_missed;  // what the latest attempt at the next step missed, one sentence each
};

// `now`: a date. `attempts`: of one person, in any order.
CourseView course_view(Curriculum curriculum, const std::vector<LabAttempt>& attempts, double now);

// "open", "refresher due", ...
const char* state_name(StepState state);
// "Touch small targets, level 2"
std::string step_title(const CourseStep& step);
// "1 of 2 in a row, 3 of 12 in all"
std::string passes_text(const CourseStep& step, const StepProgress& progress);
// "at least 85 points, errors at most 1"
std::string criteria_text(const CourseStep& step);
// Why a step is locked: the titles of the steps that it requires and that are not passed, separated by "; ".
std::string needs_text(const CourseView& view, std::size_t step);
// The number of steps that are passed, a refresher that is due included.
std::size_t steps_passed(const CourseView& view);

// What an attempt means for the step of the curriculum to which it belongs.
struct StepOutcome {
  std::size_t step = 0;
  std::vector<std::string> missed;    // criteria, one sentence each; empty: a pass
  bool completed = false;             // it is the attempt with which the step is passed
  bool refreshed = false;             // a refresher was due, and this is it
  std::vector<std::size_t> unlocked;  // steps that it opened
  CourseView after;                   // the progress with this attempt
};

// Returns nothing when no step has the attempt's scene and level. `attempts`: of this
// person; whether `attempt` is one of them makes no difference. Of several steps with the same scene and level the
// first that is not passed counts.
std::optional<StepOutcome> step_outcome(const Curriculum& curriculum, const std::vector<LabAttempt>& attempts,
                                        const LabAttempt& attempt, double now);

// One line for each step, then the next step and what its latest attempt missed.
std::string course_table(const CourseView& view);

// Scores a recording. Throws InputError when it has no task.
ExpertAttempt expert_attempt_of(const std::filesystem::path& recording);
ExpertAttempt expert_attempt_of(const LabAttempt& attempt);

std::string thresholds_toml(const ExpertThresholds& thresholds);

}  // namespace trocar
