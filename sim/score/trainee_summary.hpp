// What a trainee reads first of a result: the score, what limits it, and at most six measures with units and reference
// bands. Every other metric is for research and teachers. `trocar score`, `trocar perform`, the window, the report and
// the page in the browser show the same.   Reasons: docs/metrics.md.   Tested in tests/sim/score/summary_test.cpp
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/score/attempt.hpp"

namespace trocar {

// Formats a score with one decimal place, rounded down, so that 84.97 never reads like a pass at 85: "84.9", "85".
std::string score_text(double score);

// Returns the grade with which a part counts: its grade times the share of the task that was done, and after a critical
// error at most the cap. Without an error to cap it, the mean over the graded parts is the score. A part that the
// attempt did not reach is therefore never full: no blood lost in a tenth of an operation counts 0.1.
std::optional<double> counted_grade(const TaskResult& task, const Metric& part);
// Says why no part counts fully: "60 % of the task was done, so no part counts more than 60 %."; else empty.
std::string counted_text(const TaskResult& task);

inline constexpr std::size_t kCostlyParts = 6;
// Returns the numbers of the parts that cost points, the most expensive first, at most kCostlyParts.
std::vector<std::size_t> costly_parts(const TaskResult& task);

// Returns the time, movements, path, time out of view, force and errors of an attempt, as far as it has them. Those of
// several instruments are added; a sum with an undefined term is undefined.
std::vector<Metric> trainee_metrics(const Attempt& attempt);

// Returns the reference band in words: "good up to 2 N, poor from 4 N"; empty without one.
std::string reference_text(const Metric& metric);

// Says that an attempt without a task is not judged; empty with a task.
std::string no_judgement_text(const Attempt& attempt);

// Returns a number of things in words: "1 error", "2 errors".
std::string counted(std::size_t count, std::string_view thing);

}  // namespace trocar
