// A person's progress in a curriculum, from the attempts in the database. Rules: docs/curriculum.md
// Tested in tests/app/lab_course_test.cpp
#pragma once

#include <string>
#include <vector>

#include "app/lab/lab_attempt.hpp"
#include "sim/course/course_progress.hpp"

namespace trocar {

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

// One line for each step, then the next step and what its latest attempt missed.
std::string course_table(const CourseView& view);

}  // namespace trocar
