// Says in words why a metric has its grade, and gives one sentence of advice: a table with one row for each graded
// metric of tasks, instruments and whole sessions. Shown by the results screen of the window, by the report and by
// `trocar score --json`.   Tested in tests/sim/grade_text_test.cpp
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/score/attempt.hpp"

namespace trocar {

struct GradeSentences {
  const char* id;      // of the metric
  const char* kind;    // of the task where the metric of this id is defined differently; "": any other
  const char* reason;  // without its end; {} stands for the value with its unit
  const char* advice;
};
std::span<const GradeSentences> grade_sentences();

struct GradeText {
  std::string why;     // "The task took 41.2 s (full grade up to 25 s, grade 0 from 90 s)."
  std::string advice;  // to be shown below the full grade
};
// Returns the sentences of a metric; both empty when it has no grade. `kind`: of the task, "" without one.
GradeText grade_text(const Metric& metric, std::string_view kind);

// Returns a number with at most three digits, or all before the decimal point, and its unit: "41.2 s".
std::string value_with_unit(double value, std::string_view unit);

}  // namespace trocar
